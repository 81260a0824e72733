/* sleeper.h - a sleeping waiter, as the mutexes and the condition variable see it
 *
 * It is on the stack of the waiting thread and lasts as long as the wait. Whoever ends the wait writes `state`, and
 * may then only wake that address: the object may be gone, and waking an address where nobody sleeps, or somebody
 * else does, is harmless. The rest belongs to the queue it is in, and is guarded by the same lock.
 */
#pragma once

#include "atomic.h"

typedef struct pawl_sleeper {
    _Atomic(uint32_t) state;     /* the futex; its values are up to the queue's owner                 */
    uint32_t slot;               /* in a mutex's queue: what a hint knows its thread by; 0: nothing   */
    pawl_word key;               /* what it waits for: the address of a mutex or a condition variable */
    void *mutex;                 /* in a condition variable's queue: the pawl_mutex to requeue to     */
    struct pawl_sleeper *next;   /* the one behind it                                                 */
    struct pawl_sleeper *before; /* the one in front of it                                            */
    struct pawl_sleeper *last;   /* in the first of a queue: the last one                             */
    struct pawl_sleeper *other;  /* in the first of a queue: the first of another queue               */
    uint32_t length;             /* in the first of a queue: how many they are                        */
    uint32_t rank;               /* in a mutex's queue: it goes before those of a later rank          */
} pawl_sleeper;
