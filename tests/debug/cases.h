/* cases.h - programs for the debug mode to judge, with any lock */
#pragma once

#include "../../common/table.h"

/* pawl_mutex and pawl_fairmutex, as the table has the others. */
extern const lock_info mutex_as_lock, fairmutex_as_lock;

/* Runs the case of that name with the lock of that name; returns what main() returns. */
int run_case(const char *name, const char *lock);
