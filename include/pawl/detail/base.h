/* base.h - what every lock header includes: atomics, waiting, per-thread state, the functions around a lock's text
 */
#pragma once

#include "functions.h"
#include "thread.h"
#include "wait.h"

/* For a lock that passes nothing from lock to unlock. */
typedef struct pawl_no_ctx {
    char none; /* never touched; an empty struct would differ in size between C and C++ */
} pawl_no_ctx;
