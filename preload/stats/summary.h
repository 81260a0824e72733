/* summary.h - what the rows of the table come to */
#pragma once

#include "table.h"

enum { STATS_LISTED = 10 };

typedef struct stats_summary {
    stats_row all; /* the sum of all rows and `beyond` */
    uint64_t locks;
    const stats_row *listed[STATS_LISTED]; /* by total wait, longest first */
    int listed_count;
} stats_summary;

void stats_sum_up(stats_summary *s);

double stats_share(uint64_t part, uint64_t whole);

/* The upper end of the bucket that the quantile falls into, or the longest time if that is less. */
uint64_t stats_quantile(const stats_times *t, double q);

/* Where threads waited longest for the lock, or NULL. */
const stats_site *stats_worst_site(const stats_row *row);
