/* policy.h - how threads wait for a lock: the choice of the process
 *
 * PAWL_WAIT in the environment makes it when the process starts, pawl_set_wait() at any time. The mutexes have ways of
 * their own and do not ask.
 *
 *   spin    look for ever: what the papers measure; only for as many threads as there are CPUs
 *   yield   look for a while, then give the CPU away between two looks
 *   park    look for a bounded time, then sleep until the word that was watched changes (the default)
 */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_policy { PAWL_WAIT_SPIN, PAWL_WAIT_YIELD, PAWL_WAIT_PARK } pawl_policy;

/* False, and nothing changed, if the value is not a policy. Takes effect on waits already under way. */
bool pawl_set_wait(pawl_policy policy);
pawl_policy pawl_get_wait(void);

#ifdef __cplusplus
}
#endif
