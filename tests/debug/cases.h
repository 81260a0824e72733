/* cases.h - programs for debug mode to judge, with any lock */
#pragma once

#include "../../src/register.h"

/* Runs the case of that name with the lock of that name; returns what main() returns. */
int run_case(const char *name, const char *lock);
