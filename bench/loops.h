/* loops.h - the measured loops, one per lock with the lock inlined into it
 *
 * A lock of the register needs nothing here. A lock from elsewhere (glibc's mutex) is one line in loops.c.
 */
#pragma once

#include "generator.h"

#include <pawl/atomic.h>

#define BENCH_LOCK_ROOM 1024

/* What one acquisition costs beside the lock, in steps of a generator. */
typedef struct bench_load {
    uint64_t cs;     /* of the shared generator, inside                        */
    uint64_t ncs;    /* of the thread's own, outside                           */
    bool ncs_random; /* uniform in [0, ncs) each time, instead of ncs          */
} bench_load;

typedef enum bench_phase { BENCH_WARM_UP, BENCH_MEASURE, BENCH_STOP } bench_phase;

/* Lock, data and flag on sectors of their own: only the lock's and the data's move between the CPUs. */
typedef struct bench_shared {
    PAWL_ALIGNED unsigned char lock[BENCH_LOCK_ROOM];
    PAWL_ALIGNED generator data;     /* plain memory: the lock protects it */
    PAWL_ALIGNED _Atomic(int) phase; /* a bench_phase                      */
    bench_load load;
} bench_shared;

typedef struct bench_worker {
    PAWL_ALIGNED bench_shared *shared;
    generator own;
    _Atomic(uint64_t) count; /* acquisitions, for all to see while they are made               */
    uint64_t worst_wait;     /* of the timed acquisitions of the measured phase, in ticks      */
} bench_worker;

typedef struct bench_lock {
    const char *name;
    size_t size;
    bool sleeps;                                    /* waits in its own way, whatever the policy  */
    void (*work)(bench_worker *w);                  /* until the phase is BENCH_STOP              */
    void (*pairs)(bench_shared *s, uint64_t pairs); /* lock and unlock, nothing else             */
    void (*destroy)(bench_shared *s);
} bench_lock;

/* The register's order, then the others. */
extern const bench_lock bench_locks[];
extern const size_t bench_lock_count;

const bench_lock *bench_lock_find(const char *name); /* NULL if there is none */
