/* cond.h - pawl_cond, between its files and those that sleep in their own way */
#pragma once

#include <pawl/cond.h>

/* A waiter's state, unless it waits for a pawl_mutex: then it is PAWL_ASLEEP, and what follows is between the
 * mutex and the waiter. */
enum {
    PAWL_COND_WAITING, /* not signalled                                                  */
    PAWL_COND_CALLED,  /* by a broadcast: the one before it will tell it to go           */
    PAWL_COND_GO,
};

/* From now on it can be signalled. The mutex to have afterwards, or null if that is the waiter's own business. */
void pawl_cond_enqueue(pawl_cond *c, pawl_sleeper *w, pawl_mutex *mutex);

/* Whether it was not signalled yet. */
bool pawl_cond_is_in_queue(const pawl_cond *c, const pawl_sleeper *w);

/* It waits no longer. False if it was signalled just before. */
bool pawl_cond_withdraw(pawl_cond *c, pawl_sleeper *w);
