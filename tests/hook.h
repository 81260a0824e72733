/* hook.h - lets a test see that a thread waits, and hold it there
 *
 * Include it before anything else. The locks of this test program then call test_wait_turn(), which the
 * program defines, wherever they would consult the waiting policy, and they do so after one look. Whoever is
 * in there has passed its doorway: later arrivals are behind it. The library's own waits are not affected, and so not those
 * of the mutexes.
 */
#pragma once

#define pawl_wait_turn test_wait_turn
#define PAWL_SPINS     1

#include "harness.h"

#include <sched.h>

static inline bool waits_are_seen(const lock_info *lock)
{
    return !lock->own_waiting;
}

/* The one wait that comes before a doorway is Overlap's, for this thread's last hand-over of the same lock to
 * be taken. With that out of the way before lock() is called, whoever waits has arrived. */
static inline void hook_settle(const void *lock)
{
    while (atomic_load_explicit(&pawl_hemlock_self.overlap, memory_order_relaxed) == pawl_address(lock))
        sched_yield();
}
