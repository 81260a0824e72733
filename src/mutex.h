/* mutex.h - what the files of pawl_mutex share with those of pawl_cond */
#pragma once

#include <pawl/mutex.h>
#include <pawl/detail/sleeper.h>
#include "park/queue.h"

/* pawl_mutex.held of an owner that a hint knows by this slot, or by none (0). */
#define PAWL_M_HELD_BY(slot) (1 + 2 * (slot))

/* In pawl_mutex.patience: the owner has asked the kernel for time, which its release has to give back. */
#define PAWL_M_ASKED (1u << 31)

/* What changes pawl_mutex.queue; <pawl/mutex.h> has the table. */
typedef enum pawl_mutex_event {
    PAWL_M_ARRIVES,   /* the first waiter queues up                             */
    PAWL_M_ROUSED,    /* the head gets up to compete                            */
    PAWL_M_LIES_DOWN, /* the head has lost, and lies down                       */
    PAWL_M_ASKS,      /* the head's share is over: it asks for a hand-off       */
    PAWL_M_GOES,      /* the head has the mutex, or has given up                */
    PAWL_M_NOBODY,    /* there is no queue: it stayed in the parent of a fork() */
} pawl_mutex_event;

/* A waiter's state. Only the head of a queue is ever AWAKE or WATCHING.
 *
 *              roused   it loses   it sleeps   handed the mutex
 *   ASLEEP     AWAKE    -          -           OWNER
 *   WATCHING   AWAKE    -          ASLEEP*     OWNER
 *   AWAKE      AWAKE    WATCHING   -           OWNER
 *
 *   * by the waiter itself, with no lock held; all else with the bucket's lock
 */
enum {
    PAWL_ASLEEP,   /* sleeps or is about to: whoever changes this must wake it */
    PAWL_WATCHING, /* about to sleep, but still looking                        */
    PAWL_AWAKE,    /* competes for the mutex                                   */
    PAWL_OWNER,    /* was handed the mutex, and is out of the queue            */
};

/* With the bucket's lock held. */
static inline uint32_t pawl_mutex_bits(const pawl_mutex *m)
{
    return atomic_load_explicit(&m->queue, memory_order_relaxed);
}
void pawl_mutex_set_bits(pawl_mutex *m, pawl_mutex_event why, uint32_t to);
void pawl_mutex_enqueue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
/* For a thread that has not competed for a while: before those that have. */
void pawl_mutex_enqueue_rare(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
void pawl_mutex_dequeue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w);
/* Makes the head of the queue compete. Returns the waiter that the caller must wake once it has unlocked the bucket,
 * or null. */
pawl_sleeper *pawl_mutex_rouse(pawl_mutex *m, pawl_sleeper *head);

/* Notes that this thread comes to a contended mutex, or releases it. True if it had not competed for a while. */
bool pawl_mutex_competes(uint32_t now);

/* Ticks until the head's share is over. */
uint32_t pawl_mutex_left(const pawl_mutex *m, uint32_t now);

/* Unlocks the bucket, then wakes that waiter, if any. */
void pawl_mutex_let_go(pawl_bucket *b, pawl_sleeper *asleep);

/* Waits in the queue, asleep or not, until it owns the mutex (0), or has left the queue at the deadline (ETIMEDOUT). */
int pawl_mutex_wait(pawl_mutex *m, pawl_sleeper *w, int clock, const struct timespec *deadline);
