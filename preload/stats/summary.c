/* summary.c - what the rows of the table come to */
#include "summary.h"

#include <string.h>

static void add_times(stats_times *to, const stats_times *from)
{
    to->count += stats_get(&from->count);
    to->total_ns += stats_get(&from->total_ns);
    if (stats_get(&from->worst_ns) > to->worst_ns)
        to->worst_ns = stats_get(&from->worst_ns);
    for (int b = 0; b < STATS_BUCKETS; b++)
        to->buckets[b] += stats_get(&from->buckets[b]);
}

static void list(stats_summary *s, const stats_row *row)
{
    if (stats_get(&row->wait.count) == 0)
        return;
    int at = s->listed_count < STATS_LISTED ? s->listed_count++ : STATS_LISTED;
    while (at > 0 && stats_get(&s->listed[at - 1]->wait.total_ns) < stats_get(&row->wait.total_ns)) {
        if (at < STATS_LISTED)
            s->listed[at] = s->listed[at - 1];
        at--;
    }
    if (at < STATS_LISTED)
        s->listed[at] = row;
}

static void add_row(stats_summary *s, const stats_row *row)
{
    s->all.acquisitions += stats_get(&row->acquisitions);
    add_times(&s->all.wait, &row->wait);
    add_times(&s->all.hold, &row->hold);
}

void stats_sum_up(stats_summary *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < STATS_ROWS; i++) {
        const stats_row *row = &stats_rows->rows[i];
        if (stats_get(&row->acquisitions) == 0)
            continue;
        s->locks++;
        add_row(s, row);
        list(s, row);
    }
    add_row(s, &stats_rows->beyond);
}

double stats_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

uint64_t stats_quantile(const stats_times *t, double q)
{
    uint64_t count = stats_get(&t->count), seen = 0, worst = stats_get(&t->worst_ns);
    for (int b = 0; b < STATS_BUCKETS; b++) {
        seen += stats_get(&t->buckets[b]);
        uint64_t end = UINT64_C(2) << b;
        if ((double)seen >= q * (double)count)
            return end < worst ? end : worst;
    }
    return worst;
}

const stats_site *stats_worst_site(const stats_row *row)
{
    const stats_site *worst = NULL;
    for (int i = 0; i < STATS_SITES; i++)
        if (row->sites[i].address != 0 &&
            (worst == NULL || stats_get(&row->sites[i].waited_ns) > stats_get(&worst->waited_ns)))
            worst = &row->sites[i];
    return worst;
}
