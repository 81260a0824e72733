/* run.h - one run: some threads and one lock for a while, and what they got done */
#pragma once

#include "loops.h"

typedef struct bench_point {
    const bench_lock *lock;
    unsigned threads;
    bench_load load;
    uint64_t duration_ns; /* measured, after a short warm-up */
} bench_point;

typedef struct bench_run {
    double throughput; /* acquisitions per second                                                 */
    double fairness;   /* fewest acquisitions of a thread over most                               */
    double worst_wait_ns;
    double cpu_seconds; /* of the whole process */
} bench_run;

/* Stands for an errno value: the replay disagrees, so two threads were inside at once. */
#define BENCH_NO_EXCLUSION (-1)

/* 0, an errno value (no memory or no thread to be had), or BENCH_NO_EXCLUSION. After an errno value threads
 * may be left waiting for a start that never comes: the caller is expected to give up. */
int bench_run_point(const bench_point *point, bench_run *run);

/* Nanoseconds of one uncontended lock and unlock; 0 or an errno value. */
int bench_run_pairs(const bench_lock *lock, uint64_t pairs, double *ns_per_pair);
