/* campaign.h - several runs of several locks, and one number for each */
#pragma once

#include "run.h"

typedef struct bench_campaign {
    const bench_lock *const *locks;
    size_t lock_count;
    const unsigned *threads; /* thread counts */
    size_t thread_counts;
    bench_load load;
    uint64_t duration_ns;
    unsigned runs;
    /* Called before each run, if there is one; `done` of `all` runs are over. */
    void (*progress)(const bench_point *next, size_t done, size_t all);
} bench_campaign;

typedef struct bench_result {
    const bench_lock *lock;
    unsigned threads;
    unsigned runs;
    double throughput, throughput_min, throughput_max; /* median, least and most of the runs */
    double fairness;                                   /* median                             */
    double cpu_seconds;                                /* median                             */
    double worst_wait_ns;                              /* of all runs                        */
} bench_result;

/* Fills lock_count * thread_counts results, ordered by thread count, then lock. The runs are interleaved:
 * the first of every point, then the second, so that a machine that slows down slows all of them.
 * Returns as bench_run_point() does; then *at says where it happened. */
int bench_campaign_run(const bench_campaign *c, bench_result *results, bench_point *at);

/* Sorts the values. */
double bench_median(double *values, size_t count);
