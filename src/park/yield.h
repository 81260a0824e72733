/* yield.h - giving the CPU away for a moment */
#pragma once

#include <stdbool.h>

/* Lets another thread run, perhaps the one that this thread waits for. False if that takes too long these days: then
 * sleep instead. */
bool pawl_yield(void);
