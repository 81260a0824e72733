/* sleeper.h - a thread that waits asleep, as the mutexes and the condition variable see it
 *
 * One object on the stack of the thread that waits; it lasts as long as the wait. Whoever ends the wait
 * writes `state` and may then do no more than wake that address: the object may be gone, and to wake an
 * address where nobody sleeps, or somebody else does, is harmless. All else in it belongs to the queue it is
 * in, and is guarded like that.
 */
#pragma once

#include "atomic.h"

typedef struct pawl_sleeper {
    _Atomic(uint32_t) state;     /* the futex; what it says is the business of whoever made the queue  */
    pawl_word key;               /* what it waits for: the address of a mutex or a condition variable  */
    void *mutex;                 /* of a condition variable's: the pawl_mutex to have afterwards       */
    struct pawl_sleeper *next;   /* the one behind it                                                  */
    struct pawl_sleeper *before; /* the one in front of it                                             */
    struct pawl_sleeper *last;   /* of the first in a queue: the last one                              */
    struct pawl_sleeper *other;  /* of the first in a queue: the first in another queue                */
    uint32_t length;             /* of the first in a queue: how many they are                         */
} pawl_sleeper;
