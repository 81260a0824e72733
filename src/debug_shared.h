/* debug_shared.h - a lock in shared memory that a second process takes; needs the debug mode's lock */
#pragma once

#include <stdbool.h>

/* Once, before the first fork. */
void pawl_debug_shared_prepare(void);

/* The other process that took this lock before the caller took it just now, or 0. Tells it once. */
int pawl_debug_other_process(const void *lock);
