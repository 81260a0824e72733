/* step.h - runs a function one instruction at a time
 *
 * Between any two instructions of a thread another one gets its chance, so that a hazard whose window is a
 * few instructions wide shows every time, not once in a million.
 */
#pragma once

#include <stdbool.h>

/* Whether this build can: x86-64, without a sanitizer (which would step through its own code, too). */
bool step_possible(void);

/* Calls fn(arg); `between` is called before each of its instructions with their number so far, in a signal
 * handler. Returns how many there were. */
int step_through(void (*fn)(void *arg), void *arg, void (*between)(int instruction));
