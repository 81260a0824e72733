/* summary.h - what the rows of the table come to */
#pragma once

#include "table.h"

enum { STATS_LISTED = 10 };

typedef struct stats_summary {
    uint64_t acquisitions;
    stats_times wait, hold; /* of all locks */
    uint64_t vain, vain_ns; /* waits that gave up */
    uint64_t refused;       /* calls of trylock that found the lock taken */
    uint64_t locks;
    const stats_row *listed[STATS_LISTED]; /* by total wait, longest first */
    int listed_count;
} stats_summary;

void stats_sum_up(stats_summary *s);

double stats_share(uint64_t part, uint64_t whole);

/* The upper end of the bucket that the quantile falls into, or the longest time if that is less. */
uint64_t stats_quantile(const stats_times *t, double q);

/* Of a lock that is listed. */
const stats_detail *stats_detail_of(const stats_row *row);

/* Where threads waited longest for the lock; address 0: not known. */
typedef struct stats_site {
    uintptr_t address;
    uint64_t waits, waited_ns;
} stats_site;

stats_site stats_worst_site(const stats_row *row);
