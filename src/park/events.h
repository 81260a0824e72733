/* events.h - how often the parking layer calls the kernel
 *
 * For `pawl bench` and for tests. Threads count in different cache lines, as far as their stacks tell them apart, so
 * that counting costs nothing next to the system call that is counted.
 */
#pragma once

#include <stdint.h>

typedef enum pawl_event {
    PAWL_MEMBARRIERS,
    PAWL_FUTEX_WAITS,
    PAWL_FUTEX_WAITS_VOID, /* of these, the ones that found another value and returned at once (EAGAIN) */
    PAWL_FUTEX_WAKES,
    PAWL_EVENTS,
} pawl_event;

void pawl_count(pawl_event event);

/* The count of all threads so far; in a forked process it includes the parent's before the fork. */
uint64_t pawl_events(pawl_event event);
