/* surroundings.h - what else goes on while a process measures: its own CPU time and switches, the counters of the CPU,
 * the other programs, and the CPUs' speed */
#pragma once

#include "beside.h"
#include "request.h"

typedef struct bench_counters {
    int fd[BENCH_COUNTERS]; /* -1 if the machine does not give it */
    int migrations;         /* -1 if they are to be read from /proc */
    const bench_beside *beside;
} bench_counters;

/* pawl_events, which programs without libpawl do not have. */
typedef uint64_t bench_events(pawl_event event);

/* A moment. What happened between two of them is the difference. */
typedef struct bench_moment {
    double ns, ticks;
    double cpu_ns, voluntary, involuntary; /* of this process */
    double migrations;                     /* of its threads; negative if unknown */
    double busy_ns;                        /* of all CPUs together; negative if unknown */
    double beside_ns;                      /* of the load that was asked for */
    double counters[BENCH_COUNTERS];       /* negative if unknown */
    double events[PAWL_EVENTS];            /* negative if not asked for */
} bench_moment;

/* Opens counters that also count the threads started later. */
bench_counters bench_counters_open(const bench_beside *beside);

/* NULL, or why there are none; a text that stays. */
const char *bench_counters_missing(void);

/* `events` is NULL if no lock of Pawl is measured. */
bench_moment bench_moment_now(const bench_counters *counters, bench_events *events);

/* Fills in all that follows from two moments. */
void bench_surroundings(bench_run *run, const bench_moment *from, const bench_moment *to);

/* Nanoseconds that a fixed piece of work takes, the best of a few tries: a slower CPU takes longer. */
double bench_step_ns(void);
