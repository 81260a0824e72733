/* policy.h - how the threads of a process wait for a lock
 *
 * PAWL_WAIT in the environment sets it when the process starts, pawl_set_wait() at any time. The mutexes wait in
 * their own way and ignore it.
 *
 *   spin    keep looking: what the papers measure; only for as many threads as there are CPUs
 *   yield   look for a while, then give up the CPU between two looks
 *   park    look for a bounded time, then sleep until the watched word changes (the default)
 */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_policy { PAWL_WAIT_SPIN, PAWL_WAIT_YIELD, PAWL_WAIT_PARK } pawl_policy;

/* False, and no change, if the value is not a policy. Applies to waits already under way, too. */
bool pawl_set_wait(pawl_policy policy);
pawl_policy pawl_get_wait(void);

#ifdef __cplusplus
}
#endif
