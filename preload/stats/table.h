/* table.h - the table that stats.c fills and stats_report.c reads
 *
 * A row belongs to a lock's address. Only the owner of the lock writes to its row, so the lock itself keeps the
 * row consistent: no atomic read-modify-write, and threads that use different locks share nothing. The fields are
 * atomic because the report reads them while threads may still run. A lock that is destroyed and another that is
 * made at the same address share the row.
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
    stats_count weight; /* decides who stays if there are more than fit */
    stats_count waited_ns, waits;
} stats_site;

typedef struct stats_row {
    _Atomic uintptr_t lock; /* 0: the row is free */
    stats_count acquisitions;
    stats_count since; /* when its owner got it, or 0 */
    stats_times wait;  /* of the contended acquisitions only */
    stats_times hold;
    stats_site sites[STATS_SITES]; /* where threads waited; if there are more, those that waited most */
} stats_row;

/* Zero in a forked child: it has its own story to tell. */
typedef struct stats_table {
    stats_row rows[STATS_ROWS];
    stats_row beyond; /* all locks for which there was no row; without hold times and call sites */
} stats_table;

extern stats_table *stats_rows; /* NULL if nothing is collected */
