/* summary.c - what the rows of the table come to */
#include "summary.h"

#include <stdbool.h>
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

const stats_detail *stats_detail_of(const stats_row *row)
{
    return &stats_tables->details[stats_detail_id(row)];
}

static uint64_t waited_for(const stats_row *row)
{
    const stats_detail *d = stats_detail_of(row);
    return stats_get(&d->wait.total_ns) + stats_get(&d->vain_ns);
}

static void list(stats_summary *s, const stats_row *row)
{
    int at = s->listed_count < STATS_LISTED ? s->listed_count++ : STATS_LISTED;
    while (at > 0 && waited_for(s->listed[at - 1]) < waited_for(row)) {
        if (at < STATS_LISTED)
            s->listed[at] = s->listed[at - 1];
        at--;
    }
    if (at < STATS_LISTED)
        s->listed[at] = row;
}

/* Reading what was never written takes memory. */
static uint64_t refused_of(const stats_row *row)
{
    const stats_table *t = stats_tables;
    return stats_get_id(&t->any_refused) != 0 ? stats_get(&t->refused[row - t->locks]) : 0;
}

static void add_row(stats_summary *s, const stats_row *row)
{
    s->locks++;
    s->refused += refused_of(row);
    s->acquisitions += stats_get(&row->acquisitions);
    if (stats_detail_id(row) == 0)
        return;
    const stats_detail *d = stats_detail_of(row);
    add_times(&s->wait, &d->wait);
    add_times(&s->hold, &d->hold);
    s->vain += stats_get(&d->vain);
    s->vain_ns += stats_get(&d->vain_ns);
    if (waited_for(row) > 0)
        list(s, row);
}

/* A lock may have been wanted, and never acquired. */
static bool is_used(const stats_row *row)
{
    const stats_detail *d = stats_detail_of(row);
    return stats_get(&row->acquisitions) + stats_get(&d->vain) + refused_of(row) +
               atomic_load_explicit(&d->waiting, memory_order_relaxed) >
           0;
}

void stats_sum_up(stats_summary *s)
{
    const stats_table *t = stats_tables;
    memset(s, 0, sizeof *s);
    for (uint32_t i = 1; i <= stats_get_id(&t->locks_used) && i < STATS_LOCKS; i++)
        if (t->locks[i].kind != STATS_COND && is_used(&t->locks[i]))
            add_row(s, &t->locks[i]);
    for (int i = 0; i < STATS_SHARDS; i++)
        add_times(&s->hold, &t->shards[i].hold);
    s->acquisitions += stats_get(&t->beyond);
    s->refused += refused_of(&t->locks[0]); /* of locks without a row */
    add_times(&s->wait, &t->beyond_wait);
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

/* A waiter's stack begins with its call. */
static uintptr_t call_of(uint32_t stack)
{
    return (uintptr_t)stats_tables->frames[stats_tables->stacks[stack & ~STATS_IN_VAIN].first];
}

static stats_site site_of(uint32_t row, uintptr_t address)
{
    stats_site site = {.address = address};
    for (int i = 0; i < STATS_MEETS; i++) {
        const stats_meet *m = &stats_tables->meets[i];
        if (stats_get_id(&m->row) == row && m->waiter != 0 && call_of(m->waiter) == address) {
            site.waits += stats_get(&m->count);
            site.waited_ns += stats_get(&m->total_ns);
        }
    }
    return site;
}

stats_site stats_worst_site(const stats_row *row)
{
    stats_site worst = {0};
    uint32_t place = (uint32_t)(row - stats_tables->locks);
    for (int i = 0; i < STATS_MEETS; i++) {
        const stats_meet *m = &stats_tables->meets[i];
        if (stats_get_id(&m->row) != place || m->waiter == 0)
            continue;
        stats_site site = site_of(place, call_of(m->waiter));
        if (site.waited_ns > worst.waited_ns)
            worst = site;
    }
    return worst;
}
