/* stats.c - counts what happens to each lock */
#include "stats.h"

#include "table.h"

#include "src/park/clock.h"

#include <stddef.h>

bool stats_on;
stats_table *stats_rows;

static void set(stats_count *c, uint64_t value)
{
    atomic_store_explicit(c, value, memory_order_relaxed);
}

/* Only the lock's owner calls it. */
static void add(stats_count *c, uint64_t n)
{
    set(c, stats_get(c) + n);
}

/* Any thread may call it. */
static void add_shared(stats_count *c, uint64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static unsigned bucket_of(uint64_t ns)
{
    unsigned b = ns > 0 ? 63u - (unsigned)__builtin_clzll(ns) : 0;
    return b < STATS_BUCKETS ? b : STATS_BUCKETS - 1;
}

static void record(stats_times *t, uint64_t ns)
{
    add(&t->count, 1);
    add(&t->total_ns, ns);
    add(&t->buckets[bucket_of(ns)], 1);
    if (ns > stats_get(&t->worst_ns))
        set(&t->worst_ns, ns);
}

static void record_shared(stats_times *t, uint64_t ns)
{
    add_shared(&t->count, 1);
    add_shared(&t->total_ns, ns);
    add_shared(&t->buckets[bucket_of(ns)], 1);
    uint64_t worst = stats_get(&t->worst_ns);
    while (ns > worst && !atomic_compare_exchange_weak_explicit(&t->worst_ns, &worst, ns,
                                                                memory_order_relaxed, memory_order_relaxed))
        ;
}

/* The lock's row, new if need be; NULL if its neighbourhood is full. */
static stats_row *row_of(const void *lock)
{
    enum { NEIGHBOURHOOD = 64 };
    uintptr_t address = (uintptr_t)lock;
    uint64_t hash = (address >> 2) * UINT64_C(0x9E3779B97F4A7C15);
    size_t first = (size_t)(hash >> 32) % STATS_ROWS;
    for (size_t i = 0; i < NEIGHBOURHOOD; i++) {
        stats_row *row = &stats_rows->rows[(first + i) % STATS_ROWS];
        uintptr_t found = atomic_load_explicit(&row->lock, memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong_explicit(&row->lock, &found, address,
                                                                  memory_order_relaxed, memory_order_relaxed))
            return row;
        if (found == address)
            return row;
    }
    return NULL;
}

/* A ninth site replaces the one of least weight and inherits that weight, so that a site that waits often does not lose
 * its place to one that waits once (Metwally et al., Space-Saving, ICDT 2005). */
static void waited_at(stats_row *row, const void *call_site, uint64_t ns)
{
    stats_site *site = &row->sites[0];
    for (int i = 0; i < STATS_SITES; i++) {
        uintptr_t address = atomic_load_explicit(&row->sites[i].address, memory_order_relaxed);
        if (address == (uintptr_t)call_site || address == 0) {
            site = &row->sites[i];
            break;
        }
        if (stats_get(&row->sites[i].weight) < stats_get(&site->weight))
            site = &row->sites[i];
    }
    if (atomic_load_explicit(&site->address, memory_order_relaxed) != (uintptr_t)call_site) {
        atomic_store_explicit(&site->address, (uintptr_t)call_site, memory_order_relaxed);
        set(&site->waited_ns, 0);
        set(&site->waits, 0);
    }
    add(&site->weight, ns);
    add(&site->waited_ns, ns);
    add(&site->waits, 1);
}

void stats_acquired(const void *lock, const void *call_site, uint64_t waited_ns)
{
    stats_row *row = row_of(lock);
    if (row == NULL) {
        add_shared(&stats_rows->beyond.acquisitions, 1);
        if (waited_ns > 0)
            record_shared(&stats_rows->beyond.wait, waited_ns);
        return;
    }
    add(&row->acquisitions, 1);
    if (waited_ns > 0) {
        record(&row->wait, waited_ns);
        waited_at(row, call_site, waited_ns);
    }
    set(&row->since, pawl_nanoseconds(CLOCK_MONOTONIC)); /* last: our own work does not count as holding */
}

void stats_released(const void *lock)
{
    stats_row *row = row_of(lock);
    if (row == NULL)
        return;
    uint64_t since = stats_get(&row->since);
    if (since == 0) /* acquired before there was a table, or before the fork */
        return;
    record(&row->hold, pawl_nanoseconds(CLOCK_MONOTONIC) - since);
    set(&row->since, 0);
}
