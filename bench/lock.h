/* lock.h - what the measured threads share, and a lock with its measured loops
 *
 * Read by C++, too: a peer may be a C++ library. So atomics here are the compilers' builtins, which both have.
 */
#pragma once

#include "generator.h"
#include "histogram.h"
#include "mersenne.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_SECTOR    128 /* two lines: x86 prefetches them in pairs */
#define BENCH_ALIGNED   __attribute__((aligned(BENCH_SECTOR)))
#define BENCH_LOCK_ROOM 1024

enum { BENCH_LOCKS = 10 }; /* that multiwait's leader takes; the others use the first */

/* What one acquisition costs beside the lock, in steps of a generator. */
typedef struct bench_load {
    uint32_t cs;     /* of the shared generator, inside                */
    uint32_t ncs;    /* of the thread's own, outside                   */
    bool ncs_random; /* uniform in [0, ncs) each time, instead of ncs  */
    bool mersenne;   /* MT19937 instead of xoroshiro128+               */
} bench_load;

typedef enum bench_phase { BENCH_WARM_UP, BENCH_MEASURE, BENCH_STOP } bench_phase;

/* Locks, data and flag on sectors of their own: only those of the locks and the data move between the CPUs. */
typedef struct bench_shared {
    BENCH_ALIGNED unsigned char locks[BENCH_LOCKS][BENCH_LOCK_ROOM];
    BENCH_ALIGNED generator data; /* plain memory: the lock protects it */
    BENCH_ALIGNED mersenne twister;
    BENCH_ALIGNED int phase; /* a bench_phase, atomic         */
    uint64_t slow;           /* ticks, see bench_watch        */
    bench_load load;
    unsigned threads;
    unsigned variant; /* of the workload */
    void *extra;      /* what only the workload knows  */
} bench_shared;

typedef struct bench_worker {
    BENCH_ALIGNED bench_shared *shared;
    unsigned index;
    generator own;
    mersenne *twister;            /* the thread's own               */
    histogram *waits;             /* in ticks; NULL if not wanted   */
    uint64_t worst_wait;          /* of the timed ones, in ticks    */
    uint64_t starvation;          /* longest time between two timed acquisitions, in ticks */
    BENCH_ALIGNED uint64_t count; /* acquisitions, atomic: for all to see while they are made */
} bench_worker;

typedef enum bench_waiting {
    BENCH_BY_POLICY, /* as PAWL_WAIT says                     */
    BENCH_SLEEPS,    /* in its own way, and gives its CPU away */
    BENCH_SPINS,     /* and never gives it away               */
} bench_waiting;

typedef struct bench_lock {
    const char *name;
    size_t size;
    bool peer; /* another library's */
    bench_waiting waiting;
    void (*init)(void *lock);
    void (*work)(bench_worker *w);             /* loops.h: until the phase is BENCH_STOP        */
    void (*record)(bench_worker *w);           /* the same, with every wait in a histogram      */
    void (*lead)(bench_worker *w);             /* takes all locks in order                      */
    void (*follow)(bench_worker *w);           /* takes one of them at random                   */
    void (*pairs)(void *lock, uint64_t pairs); /* lock and unlock, nothing else                 */
    void (*destroy)(void *lock);
} bench_lock;

/* locks_table.c: all of them, Pawl's first. */
extern const bench_lock *const *bench_locks(size_t *count);

const bench_lock *bench_lock_find(const char *name); /* NULL if there is none; `pthread` is `glibc` */

/* locks.c: does not lock. What the loops cost without one. */
extern const bench_lock bench_no_lock;

#ifdef __cplusplus
}
#endif
