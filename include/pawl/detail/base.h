/* base.h - what every lock header includes: atomics, waiting, the thread's own state, the functions around its text
 */
#pragma once

#include "functions.h"
#include "thread.h"
#include "wait.h"

/* The context of a lock whose unlock needs to be told nothing. */
typedef struct pawl_no_ctx {
    char none; /* never touched; an empty struct would differ in size between C and C++ */
} pawl_no_ctx;
