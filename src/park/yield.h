/* yield.h - giving the CPU away for a moment */
#pragma once

#include <stdbool.h>

/* Lets another thread run, if there is one. Leaves errno alone. */
void pawl_yield_once(void);

/* Lets another thread run, perhaps the one that this thread waits for. False if that takes too long these days: then
 * sleep instead. */
bool pawl_yield(void);

/* The same for a thread that nobody knows to wait, so that it must not wait for long. False if another thread has run
 * instead, or did so lately: then it does not yield at all. */
bool pawl_yield_alone(void);
