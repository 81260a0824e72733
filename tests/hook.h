/* hook.h - lets a test see that a thread waits, and hold it there
 *
 * Include it before anything else. Wherever the locks of this test program would consult the waiting policy,
 * they then call test_wait_turn(), which the program defines, after one look. A thread in there has passed
 * its doorway: later arrivals are behind it. The library's own waits, and so the mutexes', are not affected.
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

/* The only wait before a doorway is Overlap's, for this thread's last hand-over of the same lock to be taken. That is
 * done before lock() is called, so a thread that waits has arrived. */
static inline void hook_settle(const void *lock)
{
    while (atomic_load_explicit(&pawl_hemlock_self.overlap, memory_order_relaxed) == pawl_address(lock))
        sched_yield();
}
