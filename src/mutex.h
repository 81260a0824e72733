/* mutex.h - pawl_mutex, between its files and those of the condition variable */
#pragma once

#include <pawl/mutex.h>
#include <pawl/detail/sleeper.h>
#include "park/queue.h"

/* Of pawl_mutex.queue */
enum { PAWL_M_WAITERS = 1, PAWL_M_AWAKE = 2, PAWL_M_HANDOFF = 4, PAWL_M_TIMED = 8 };

/* What changes it; <pawl/mutex.h> has the table of all changes. */
typedef enum pawl_mutex_event {
    PAWL_M_ARRIVES,   /* somebody queues up where nobody waits                      */
    PAWL_M_ROUSED,    /* the head is to compete                                     */
    PAWL_M_LIES_DOWN, /* the head has lost                                          */
    PAWL_M_ASKS,      /* the head's share is over                                   */
    PAWL_M_GOES,      /* the head has the mutex, or has given up                    */
    PAWL_M_NOBODY,    /* there is no queue: in a child of fork(), where it was left */
} pawl_mutex_event;

/* Of a waiter's state. Only the head of a queue is ever AWAKE or WATCHING.
 *
 *              roused   it loses   it sleeps   handed the mutex
 *   ASLEEP     AWAKE    -          -           OWNER
 *   WATCHING   AWAKE    -          ASLEEP*     OWNER
 *   AWAKE      AWAKE    WATCHING   -           OWNER
 *
 *   * by the waiter itself, with no lock held; all else with the bucket's lock
 */
enum {
    PAWL_ASLEEP,   /* sleeps or is about to: whoever changes this must wake it       */
    PAWL_WATCHING, /* about to sleep, but still looking                              */
    PAWL_AWAKE,    /* competes for the mutex                                         */
    PAWL_OWNER,    /* was handed the mutex, and is out of the queue                  */
};

/* With the bucket's lock held. */
uint32_t pawl_mutex_bits(const pawl_mutex *m);
void pawl_mutex_set_bits(pawl_mutex *m, pawl_mutex_event why, uint32_t to);
void pawl_mutex_enqueue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
void pawl_mutex_dequeue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
/* Has the head of the queue compete. Returns whom the caller must wake once it has let go of the bucket's lock, or null. */
pawl_sleeper *pawl_mutex_rouse(pawl_mutex *m, pawl_sleeper *head);

/* Ticks until the head's share is over. */
uint32_t pawl_mutex_left(const pawl_mutex *m, uint32_t now);

/* By a new owner that was handed the mutex by an owner's clock, and has just begun to run. */
void pawl_mutex_learn_grace(pawl_mutex *m);

/* Lets go of the bucket, then wakes that waiter, if any. */
void pawl_mutex_let_go(pawl_bucket *b, pawl_sleeper *asleep);

/* In the queue, asleep or not: until it owns the mutex, or the time has come and it has left the queue. */
int pawl_mutex_wait(pawl_mutex *m, pawl_sleeper *w, int clock, const struct timespec *deadline);
