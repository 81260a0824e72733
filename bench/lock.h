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

/* What the C library's own mutex is called. */
#ifdef __GLIBC__
#define BENCH_LIBC "glibc"
#else
#define BENCH_LIBC "pthread"
#endif

enum { BENCH_LOCKS = 10 }; /* taken by multiwait's leader; the others use the first */

/* What a thread does besides locking, in steps of a generator or in time. */
typedef struct bench_load {
    uint32_t cs;        /* steps of the shared generator, inside: 1 if cs_ns is not 0         */
    uint32_t ncs;       /* of the thread's own, outside                                       */
    bool ncs_random;    /* uniform in [0, ncs) or [0, ncs_ns) each time, instead of all of it */
    bool mersenne;      /* MT19937 instead of xoroshiro128+                                   */
    uint64_t cs_ns;     /* if not 0, how long it takes inside                                 */
    uint64_t ncs_ns;    /* if not 0, how long it takes outside, instead of steps              */
    uint64_t period_ns; /* if not 0, it sleeps outside, and asks for the lock so often        */
} bench_load;

static inline bool bench_has_times(const bench_load *load)
{
    return (load->cs_ns | load->ncs_ns) != 0;
}

typedef enum bench_phase { BENCH_WARM_UP, BENCH_MEASURE, BENCH_STOP } bench_phase;

/* Who was admitted, in order, and how many had been when it asked. The lock protects it. */
typedef struct bench_admission {
    uint32_t who, asked;
} bench_admission;

enum { BENCH_LOGGED = 1 << 16 }; /* those that come later are not */

typedef struct bench_log {
    BENCH_ALIGNED uint32_t length; /* atomic, because those who ask read it */
    BENCH_ALIGNED bench_admission admissions[BENCH_LOGGED];
} bench_log;

/* Locks, data and flag are on sectors of their own: only those of the locks and the data move between CPUs. */
typedef struct bench_shared {
    BENCH_ALIGNED unsigned char locks[BENCH_LOCKS][BENCH_LOCK_ROOM];
    BENCH_ALIGNED generator data; /* plain memory: the lock protects it */
    BENCH_ALIGNED mersenne twister;
    BENCH_ALIGNED int phase; /* a bench_phase, atomic         */
    uint64_t slow;           /* ticks, see bench_watch        */
    double ticks_per_ns;
    unsigned threads;
    unsigned variant; /* of the workload */
    void *extra;      /* what only the workload knows  */
    bench_log *log;   /* or NULL; for the timed loops  */
} bench_shared;

typedef struct bench_worker {
    BENCH_ALIGNED bench_shared *shared;
    unsigned index;
    bench_load load;
    generator own;
    uint64_t sum;                 /* of the items that condvar's thread put or took */
    mersenne *twister;            /* the thread's own               */
    histogram *waits;             /* in ticks; NULL if not wanted   */
    uint64_t worst_wait;          /* of the timed ones, in ticks    */
    uint64_t starvation;          /* longest time between two timed acquisitions, in ticks */
    BENCH_ALIGNED uint64_t count; /* acquisitions; atomic, because others read it meanwhile */
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
    void (*work)(bench_worker *w);       /* loops.h: until the phase is BENCH_STOP        */
    void (*work_timed)(bench_worker *w); /* the same, with sections that are times        */
    void (*record)(bench_worker *w);     /* as work, with every wait in a histogram       */
    void (*record_timed)(bench_worker *w);
    void (*lead)(bench_worker *w);             /* takes all locks in order                      */
    void (*follow)(bench_worker *w);           /* takes one of them at random                   */
    void (*pairs)(void *lock, uint64_t pairs); /* lock and unlock, nothing else                 */
    void (*destroy)(void *lock);
} bench_lock;

/* locks_table.c: all of them, Pawl's first. */
extern const bench_lock *const *bench_locks(size_t *count);

const bench_lock *bench_lock_find(const char *name); /* NULL if there is none; `pthread` is BENCH_LIBC */

/* A lock with its condition variable; the loops of queue.h. */
typedef struct bench_queue {
    const char *name; /* the lock's */
    bool peer;
    bench_waiting waiting;
    void (*init)(bench_shared *s);
    void (*produce)(bench_worker *w);
    void (*consume)(bench_worker *w);
} bench_queue;

/* locks_table.c: as for locks. */
extern const bench_queue *const *bench_queues(size_t *count);

const bench_queue *bench_queue_find(const char *name);

/* locks.c: does not lock. What the loops cost without one. */
extern const bench_lock bench_no_lock;

#ifdef __cplusplus
}
#endif
