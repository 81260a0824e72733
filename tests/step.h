/* step.h - runs a function one instruction at a time
 *
 * Between any two instructions of a thread others get their chance, so that a hazard whose window is a few
 * instructions wide shows every time, not once in a million.
 */
#pragma once

#include <stdbool.h>
#include <ucontext.h>

/* Whether this build can: x86-64, without a sanitizer (which would step through its own code, too). */
bool step_possible(void);

/* Calls fn(arg). Before each of its instructions `between` is called with their number so far, in a signal
 * handler, until it returns false: then the rest runs freely. Not where signals are blocked. Returns the number of calls. */
int step_through(void (*fn)(void *arg), void *arg, bool (*between)(int instruction));

/* For `between`: the address of the instruction; and the registers, which it may change. */
const void *step_counter(void);
extern __thread ucontext_t *step_registers;
