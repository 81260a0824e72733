/* sandbox.h - whether a seccomp filter judges our system calls
 *
 * A filter may kill the process for a call that it does not know, and membarrier() is one that few know. So whoever is
 * born in a sandbox does without. One that is entered later cannot be noticed in time: PAWL_NO_MEMBARRIER is for that.
 */
#pragma once

#include <stdbool.h>

bool pawl_in_sandbox(void);
