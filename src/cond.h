/* cond.h - what pawl_cond shares with code that sleeps in its own way */
#pragma once

#include <pawl/cond.h>

/* A waiter's state. LOOKING becomes GO or WAITING. Over a pawl_mutex, WAITING is PAWL_ASLEEP, and what follows is up to
 * the mutex; over any other lock it becomes CALLED and then GO. */
enum {
    PAWL_COND_WAITING, /* asleep, not signalled                                                             */
    PAWL_COND_LOOKING =
        8,            /* up, not signalled                                                                 */
    PAWL_COND_CALLED, /* asleep and signalled, but GO comes from the signaller or from the waiter before it */
    PAWL_COND_GO,     /* signalled: locks for itself                                                       */
};

/* From now on it can be signalled. `mutex` is where to requeue it; null if the waiter locks for itself. */
void pawl_cond_enqueue(pawl_cond *c, pawl_sleeper *w, pawl_mutex *mutex);

/* After the lock is released: looks for a signal for a moment. If it came (true), the caller locks for itself. If not,
 * the caller sleeps. */
bool pawl_cond_look(pawl_cond *c, pawl_sleeper *w);

/* Whether it has not been signalled yet. */
bool pawl_cond_is_in_queue(const pawl_cond *c, const pawl_sleeper *w);

/* Takes it out of the queue. False if it was signalled just before. */
bool pawl_cond_withdraw(pawl_cond *c, pawl_sleeper *w);
