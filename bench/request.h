/* request.h - one run as a message: what a measuring process is asked, and what it answers
 *
 * Both sides are built from this tree, so these are plain bytes on a pipe. The answer is a bench_run, followed by a
 * bench_waits for each thread if it says so. Those of `schedule` are not waits but gaps, in admissions.
 */
#pragma once

#include "lock.h"
#include "pin.h"
#include "schedule.h"
#include "simulated.h"

#include "src/park/events.h"

typedef struct bench_request {
    char workload[16];
    char lock[40];
    unsigned threads;
    unsigned variant; /* of the workload */
    bench_load load;
    int policy; /* a pawl_policy */
    bench_pin pin;
    unsigned beside;                       /* busy threads of another process */
    unsigned cpus[2];                      /* pingpong's   */
    unsigned producers, consumers, places; /* condvar's    */
    uint64_t period_ns;                    /* occasional's */
    uint64_t duration_ns, warm_up_ns;
    char path[256];   /* leveldb's database */
    unsigned entries; /* in it              */
} bench_request;

typedef struct bench_waits {
    double p50, p90, p99, p999, p9999, max; /* nanoseconds */
} bench_waits;

enum { BENCH_CYCLES, BENCH_INSTRUCTIONS, BENCH_CACHE_MISSES, BENCH_COUNTERS };

/* Numbers that a workload does not have are negative. */
typedef struct bench_run {
    int error; /* 0, an errno value, or one of the below */
    double value;
    double fairness, jain;
    double starvation_ns, worst_wait_ns;
    double cpu_s;
    double acquisitions; /* of all threads, or whatever they do instead */
    double voluntary_switches, involuntary_switches, migrations;
    double counters[BENCH_COUNTERS];
    double calls[PAWL_EVENTS]; /* of Pawl's locks to the kernel, per 1000 acquisitions */
    double others_cpus;        /* CPUs that other programs used meanwhile, without `beside` */
    double step_ns;            /* of a fixed amount of work: the speed of the CPUs     */
    bench_waits waits;
    unsigned waits_of_threads;
    bench_simulated simulated;
    bench_schedule schedule;
} bench_run;

/* In the place of an errno value. */
enum {
    BENCH_NO_EXCLUSION = -1,   /* the replay disagrees: two threads were inside at once */
    BENCH_DIED = -2,           /* no answer                                             */
    BENCH_NO_PROGRAM = -3,     /* the measuring program is not there                    */
    BENCH_NOT_INTERPOSED = -5, /* the program runs with another lock                      */
    BENCH_NO_DATABASE = -4,    /* leveldb's could not be opened                         */
    BENCH_NO_ARRIVAL = -6,     /* items of condvar's got lost, or arrived twice           */
};
