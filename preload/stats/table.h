/* table.h - the table that stats.c fills and report.c reads
 *
 * One row per lock address. Only the lock's owner writes to the row, so the lock protects it: no atomic
 * read-modify-write, and threads that use different locks share nothing. The fields are atomic because the report reads
 * them while threads may still run. A new lock at the address of a destroyed one shares its row.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum {
    STATS_ROWS = 1 << 15,
    STATS_BUCKETS =
        40, /* bucket b counts times from 2^b to 2^(b+1) - 1 ns, the last all that are longer: 9 minutes */
    STATS_SITES = 8,
};

typedef _Atomic uint64_t stats_count;

static inline uint64_t stats_get(const stats_count *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

typedef struct stats_times {
    stats_count count, total_ns, worst_ns;
    stats_count buckets[STATS_BUCKETS];
} stats_times;

typedef struct stats_site {
    _Atomic uintptr_t address;
    stats_count weight; /* decides which sites stay if there are too many */
    stats_count waited_ns, waits;
} stats_site;

typedef struct stats_row {
    _Atomic uintptr_t lock; /* 0: the row is free */
    stats_count acquisitions;
    stats_count since; /* when the owner acquired it, or 0 */
    stats_times wait;  /* of the contended acquisitions only */
    stats_times hold;
    stats_site sites[STATS_SITES]; /* where threads waited, or waited most */
} stats_row;

/* A fork's child starts with zeros and counts for itself. */
typedef struct stats_table {
    stats_row rows[STATS_ROWS];
    stats_row beyond; /* locks without a row: no hold times, no call sites */
} stats_table;

extern stats_table *stats_rows; /* NULL if nothing is collected */
