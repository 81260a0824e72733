/* mutex.h - pawl_mutex, between its files: the door, and what a condition variable needs to know */
#pragma once

#include <pawl/mutex.h>
#include <pawl/sleeper.h>
#include "park/queue.h"

/* Of pawl_mutex.queue */
enum { PAWL_M_WAITERS = 1, PAWL_M_AWAKE = 2, PAWL_M_TURN = 4, PAWL_M_CALLED = 8, PAWL_M_HERE = 16 };

/* Of a waiter's state. Whoever holds the bucket's lock may change it to any of these, the waiter itself from
 * AWAKE or HELPER to ASLEEP. */
enum {
    PAWL_ASLEEP, /* sleeps or is about to: whoever changes this must wake it            */
    PAWL_AWAKE,  /* up, and responsible for the rest of the queue: see pawl_mutex.queue */
    PAWL_HELPER, /* up, and responsible for nobody                                      */
    PAWL_OWNER,  /* was handed the mutex, and is out of the queue                       */
};

/* With the bucket's lock held. */
void pawl_mutex_enqueue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
void pawl_mutex_dequeue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
/* By the owner: the first waiter has got the mutex, or gets it now. */
void pawl_mutex_serve(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first);
void pawl_mutex_set_dormant(pawl_bucket *b, const void *m, bool dormant);
/* Makes the first waiter the one that competes. Returns what the caller must wake once it has let go of the
 * bucket's lock, or null. */
pawl_sleeper *pawl_mutex_rouse(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first);

/* In the queue, asleep or not: until it owns the mutex, or the time has come and it has left the queue. */
int pawl_mutex_wait(pawl_mutex *m, pawl_sleeper *w, int clock, const struct timespec *deadline);
