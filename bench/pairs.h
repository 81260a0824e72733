/* pairs.h - an uncontended lock and unlock, and nothing else */
#pragma once

#include "lock.h"

/* Nanoseconds of a pair; 0 or an errno value. */
int bench_time_pairs(const bench_lock *lock, uint64_t pairs, double *ns_per_pair);
