/* cond.h - what pawl_cond shares with code that sleeps in its own way */
#pragma once

#include <pawl/cond.h>

/* A waiter's state, except over a pawl_mutex: there it is PAWL_ASLEEP, and what follows is up to the mutex. */
enum {
    PAWL_COND_WAITING, /* not signalled                                                           */
    PAWL_COND_CALLED,  /* signalled, but GO comes from the signaller or from the waiter before it */
    PAWL_COND_GO,
};

/* From now on it can be signalled. `mutex` is where to requeue it; null if the waiter locks for itself. */
void pawl_cond_enqueue(pawl_cond *c, pawl_sleeper *w, pawl_mutex *mutex);

/* Whether it has not been signalled yet. */
bool pawl_cond_is_in_queue(const pawl_cond *c, const pawl_sleeper *w);

/* Takes it out of the queue. False if it was signalled just before. */
bool pawl_cond_withdraw(pawl_cond *c, pawl_sleeper *w);
