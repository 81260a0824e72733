/* base.h - what every lock header includes: atomics, waiting, the thread's own state
 */
#pragma once

#include "thread.h"
#include "wait.h"
#include "../watch.h"

/* The names of a lock's functions cannot be macros for the watched ones before the lock is defined. */
#if defined(PAWL_WATCH_DEBUG) && !defined(PAWL_ALL_LOCKS)
#error "PAWL_DEBUG: include <pawl.h> before the header of a single lock, or compile with -include pawl.h"
#endif

/* The context of a lock whose unlock needs to be told nothing. */
typedef struct pawl_no_ctx {
    char none; /* never touched; an empty struct would differ in size between C and C++ */
} pawl_no_ctx;
