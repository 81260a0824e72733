/* sandbox.h - whether a seccomp filter judges our system calls
 *
 * A filter may kill the process for a call that it does not know, and few know membarrier(). So a process that starts
 * in a sandbox does without. A sandbox that is entered later cannot be noticed in time: PAWL_NO_MEMBARRIER is for
 * that.
 */
#pragma once

#include <stdbool.h>

bool pawl_in_sandbox(void);
