/* simulated.h - what only a simulated run knows (sim/): which cache lines moved, and why threads waited
 *
 * All numbers are per acquisition; negative if they are not known.
 */
#pragma once

#include <stdbool.h>

/* What a line belongs to. */
typedef enum sim_object {
    SIM_LOCK,    /* the lock's body                                         */
    SIM_ELEMENT, /* a thread's element, queue node or context               */
    SIM_SLOT,    /* the waiting arrays                                      */
    SIM_PARKING, /* libpawl's tables of sleepers                            */
    SIM_KERNEL,  /* the kernel's table of futexes                           */
    SIM_DATA,    /* what the lock protects                                  */
    SIM_OTHER,   /* the workload's own bookkeeping, and libpawl's constants */
    SIM_OBJECTS
} sim_object;

/* An upgrade is a write to a line that the core has, but not for itself. */
typedef struct bench_lines {
    double read_misses, write_misses, upgrades;
    double invalidations; /* copies of other cores that writes removed */
    double remote;        /* transfers between sockets                 */
} bench_lines;

typedef struct bench_simulated {
    bool is;
    bench_lines lines[SIM_OBJECTS];
    double handover_p50_ns,
        handover_p99_ns;             /* from one owner's section to the next one's, if that one waited */
    double bypass_mean, bypass_most; /* how often later arrivals went first          */
    double waiting_cpu_ns;           /* CPU time between asking and having           */
    double accesses;                 /* to memory, in the whole run                  */
} bench_simulated;

/* bench/simulated.c */
extern const char *const sim_object_names[SIM_OBJECTS];
