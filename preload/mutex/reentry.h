/* reentry.h - a signal handler that locks, having interrupted its thread in a lock operation */
#pragma once

#include "layout.h"

/* The operations of the lock, also for such a handler. */
bool reentrant_try(mutex *m);
void reentrant_release(mutex *m);

/* Polls until it has the lock. Only if is_reentry() (lock.h). */
void acquire_in_handler(mutex *m);
