/* table.h - the tables that the hooks fill, in a mapping that outlives the process
 *
 * The interposer writes them; the report at exit reads them, and so do `pawl profile` after the death of the process and
 * `pawl top` while it runs. All of it starts as zeros and takes memory only where it is used.
 *
 *   locks[]     a row per lock address, found through index[]
 *   details[]   histograms, for locks that a thread has waited for; if all holds are timed, for all
 *   refused[]   calls of trylock that found the lock taken
 *   meets[]     who waited for whom: a lock, the waiter's stack, the holder's. Without a waiter: how long it was held. Waits
 *               that gave up have meets of their own. Waits, holds of locks that somebody waited for, and all other holds have
 *               parts of their own (meets.c)
 *   stacks[]    call stacks, each kept once; their frames are in frames[]
 *   traces[]    where on the thread's stack the frames of a stack were found, to find it again cheaply (stack.c)
 *   worst[]     the longest waits, for locks and for condition variables
 *   waiting[]   waits that have not ended
 *   maps        /proc/self/maps as it was when a stack was captured, to name the frames later (maps.c)
 *
 * Only the lock's owner writes to its row, detail and meets, so the lock protects them: no atomic read-modify-write, and
 * threads that use different locks share nothing. What waits in vain and calls of trylock leave is the exception. Fields are atomic because
 * others read them meanwhile. A new lock at the address of a destroyed one shares its row if both are of one kind.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum {
    STATS_VERSION = 7,
    STATS_LOCKS = 1 << 20,
    STATS_INDEX = 1 << 21,
    STATS_DETAILS = 1 << 14,
    STATS_MEETS = 1 << 16,
    STATS_STACKS = 1 << 16,
    STATS_FRAMES = 1 << 20,
    STATS_TRACES = 1 << 15,
    STATS_WORST = 256,
    STATS_WAITING = 1 << 12,
    STATS_SHARDS = 64,
    STATS_DEPTH = 32,       /* frames of a stack that are kept */
    STATS_MAPS = 1 << 20,   /* bytes */
    STATS_GENERATIONS = 16, /* of maps */
    STATS_RANGES = 256,     /* of code, in each generation */
    STATS_BUCKETS =
        40, /* bucket b counts times from 2^b to 2^(b+1) - 1 ns, the last all that are longer: 9 minutes */
    STATS_NAME = 256,
};

typedef _Atomic uint64_t stats_count;
typedef _Atomic uint32_t stats_id; /* a place in one of the arrays; 0: none */

static inline uint64_t stats_get(const stats_count *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static inline uint32_t stats_get_id(const stats_id *i)
{
    return atomic_load_explicit(i, memory_order_relaxed);
}

typedef struct stats_times {
    stats_count count, total_ns, worst_ns;
    stats_count buckets[STATS_BUCKETS];
} stats_times;

typedef enum stats_kind { STATS_MUTEX, STATS_SPIN, STATS_COND } stats_kind;

/* A cache line. */
typedef struct stats_row {
    _Atomic uintptr_t lock;
    stats_count acquisitions; /* of a condition variable: waits */
    stats_count since;        /* when the owner acquired it; 0: nobody has it, or it is not timed */
    _Atomic uintptr_t site;   /* the owner's call */
    stats_count hold_ns;      /* of those that were timed */
    _Atomic uint32_t holds;
    _Atomic uint32_t owner; /* its tid, or 0 */
    stats_id
        stack; /* on which the owner acquired it, if captured; of a condition variable: the last signal's */
    stats_id first;              /* of its first use */
    _Atomic float hold_worst_ns; /* of those that were timed; rounded, because all must fit */
    _Atomic uint16_t
        detail; /* 0: nobody has waited for it and not all holds are timed, or there was no room */
    _Atomic uint8_t kind;
    uint8_t unused;
} stats_row;
_Static_assert(sizeof(stats_row) == 64, "a cache line");
_Static_assert(STATS_DETAILS <= UINT16_MAX, "a row has 16 bits for it");

static inline uint32_t stats_detail_id(const stats_row *row)
{
    return atomic_load_explicit(&row->detail, memory_order_relaxed);
}

typedef struct stats_detail {
    stats_times wait, hold;
    stats_count vain, vain_ns, vain_worst_ns; /* waits until a deadline, without the lock: not in `wait` */
    _Atomic uint32_t waiting;                 /* threads that wait now */
    uint32_t unused;
} stats_detail;

/* Of a meet: its row while the rest is being written; and a bit of its waiter if it gave up. */
#define STATS_CLAIMED UINT32_MAX
#define STATS_IN_VAIN (UINT32_C(1) << 31)

typedef struct stats_meet {
    stats_id row, waiter, holder; /* row 0: free */
    uint32_t unused;
    stats_count count, total_ns, worst_ns;
} stats_meet;

typedef struct stats_stack {
    _Atomic uint64_t hash; /* of its frames; 0: free */
    uint32_t first;        /* of its frames */
    uint16_t depth;
    uint16_t generation; /* of maps that has its frames */
    stats_id ready;      /* 1: complete */
    uint32_t unused;
} stats_stack;

/* Frame i was found at `base` + at[i], and was stack's frame i. */
typedef struct stats_trace {
    uintptr_t site, base;
    uint32_t stack, depth;
    uint32_t at[STATS_DEPTH];
} stats_trace;

typedef struct stats_wait {
    stats_count start_ns, end_ns; /* CLOCK_MONOTONIC; in worst[], end 0: free; in waiting[], start 0: free */
    stats_count held_since;       /* by the holder that the waiter found; 0: not known */
    stats_id row, waiter, holder; /* stacks */
    _Atomic uint32_t waiter_tid, holder_tid;
    uint32_t unused;
    char waiter_name[16];
} stats_wait;

/* In no order. */
typedef struct stats_longest {
    stats_count least_ns; /* shorter waits are not kept */
    stats_wait waits[STATS_WORST];
} stats_longest;

/* A part of the text in `maps`, and the code in it. */
typedef struct stats_generation {
    uint32_t begin, end;
    uint32_t ranges, unused;
    struct {
        uintptr_t from, to;
    } range[STATS_RANGES];
} stats_generation;

typedef struct stats_shard {
    stats_times hold; /* of locks without a detail */
    char apart[64];
} stats_shard;

/* Of one program in one process: a fork's child has its own, and what exec() starts, too. */
typedef struct stats_table {
    _Atomic uint32_t version; /* set last */
    uint32_t pid, parent;
    uint64_t start_ns;    /* CLOCK_MONOTONIC */
    stats_count ended_ns; /* when it came to its end by exit() or quick_exit(); 0: it did not */
    uint32_t depth;       /* frames that are captured of a stack, 1: only the call */
    uint32_t sample;      /* of so many uncontended acquisitions, one is timed, */
    uint32_t chance;      /* of 2^32: the same */
    uint32_t keeps_maps;  /* somebody will read them in `maps`, after the process */
    char program[STATS_NAME];
    char lock[64];
    stats_id locks_used, details_used, stacks_used, frames_used, traces_used, generations_used;
    stats_count unwound_ns;                          /* spent on stacks */
    stats_count lost_meets, lost_stacks, cut_stacks; /* for want of room, room, time */
    stats_count beyond;                              /* acquisitions of locks without a row */
    stats_times beyond_wait;                         /* for locks without a row or a detail */
    stats_id any_refused;                            /* 0: all of refused[] is zeros */
    stats_count unlisted; /* waits that have not ended, and for which there is no room in waiting[] */
    stats_count
        worst_call_ns; /* the longest wait in a call that locks a mutex, as libpawl-native.so measures it: not for
                                  a spin lock, nor to get the mutex back after waiting for a condition variable */
    _Atomic uint32_t worst_lock, maps_lock;
    stats_shard shards[STATS_SHARDS];
    stats_longest worst[2]; /* for locks; for condition variables */
    stats_wait waiting[STATS_WAITING];
    stats_generation generations[STATS_GENERATIONS];
    char maps[STATS_MAPS];
    stats_id stack_index[2 * STATS_STACKS];
    stats_stack stacks[STATS_STACKS];
    uint64_t frames[STATS_FRAMES];
    stats_id trace_index[STATS_TRACES];
    stats_trace traces[STATS_TRACES];
    stats_meet meets[STATS_MEETS];
    stats_detail details[STATS_DETAILS];
    stats_count refused[STATS_LOCKS]; /* by row; the first: of locks without one */
    stats_id index[STATS_INDEX];
    _Alignas(64) stats_row locks[STATS_LOCKS];
} stats_table;

/* The file that `pawl profile` makes for the processes below it: this page, then a table for each. */
typedef struct stats_book {
    uint32_t version;
    uint32_t depth, sample;
    _Atomic uint32_t used; /* tables that were claimed, there may be fewer */
} stats_book;

enum { STATS_PAGE = 1 << 16, STATS_PROCESSES = 4096 }; /* as large as a page may be */

#define STATS_TABLE_BYTES ((sizeof(stats_table) + STATS_PAGE - 1) / STATS_PAGE * STATS_PAGE)

/* What the mapping is called in /proc/PID/maps. */
#define STATS_MAPPING "pawl-tables"

extern stats_table *stats_tables; /* NULL if nothing is collected */
