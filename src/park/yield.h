/* yield.h - giving the CPU away for a moment */
#pragma once

#include <stdbool.h>

/* Lets another thread run, if there is one. Leaves errno alone. */
void pawl_yield_once(void);

/* Lets another thread run, perhaps the one that this thread waits for. False if that takes too long these days: then
 * sleep instead. */
bool pawl_yield(void);

/* Whether this thread may be one of the few of the process that yield before they queue up, whatever that takes: each
 * of them is one more among which the scheduler divides the CPUs, and makes all waits longer. */
bool pawl_yield_enter(void);
void pawl_yield_leave(void);
