/* summary.h - what the rows of the table come to */
#pragma once

#include "table.h"

enum { STATS_LISTED = 10 };

typedef struct stats_summary {
    stats_row all; /* the sum of the rows and of what is beyond them */
    uint64_t locks;
    const stats_row *listed[STATS_LISTED]; /* those that threads waited for longest, most first */
    int listed_count;
} stats_summary;

void stats_sum_up(stats_summary *s);

double stats_share(uint64_t part, uint64_t whole);

/* The end of the bucket within which the quantile lies, or the longest time if that is nearer. */
uint64_t stats_quantile(const stats_times *t, double q);

/* Where threads waited longest for the lock, or NULL. */
const stats_site *stats_worst_site(const stats_row *row);
