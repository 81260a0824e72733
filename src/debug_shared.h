/* debug_shared.h - a lock in shared memory that a second process takes; under the guard of the debug mode */
#pragma once

#include <stdbool.h>

/* Once, before the first fork. */
void pawl_debug_shared_prepare(void);

/* The process that took this lock, which the caller has just taken, before; or 0 if that is nobody else. Told once. */
int pawl_debug_other_process(const void *lock);
