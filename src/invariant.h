/* invariant.h - invariants: the lab asserts them in every execution, other builds drop them */
#pragma once

#include <stdbool.h>

#ifdef PAWL_IN_LAB
void lab_assert(bool condition, const char *text);
#define PAWL_INVARIANT(condition, text) lab_assert(condition, text)
#else
#define PAWL_INVARIANT(condition, text) ((void)(true || (condition))) /* compiled, not evaluated */
#endif
