/* meets.c - how long, and who met whom */
#include "count.h"
#include "stats.h"

#include <stddef.h>

/* ---- times */

static unsigned bucket_of(uint64_t ns)
{
    unsigned b = ns > 0 ? 63u - (unsigned)__builtin_clzll(ns) : 0;
    return b < STATS_BUCKETS ? b : STATS_BUCKETS - 1;
}

void stats_record(stats_times *t, uint64_t ns)
{
    stats_add(&t->count, 1);
    stats_add(&t->total_ns, ns);
    stats_add(&t->buckets[bucket_of(ns)], 1);
    if (ns > stats_get(&t->worst_ns))
        stats_set(&t->worst_ns, ns);
}

void stats_record_shared(stats_times *t, uint64_t ns)
{
    stats_add_shared(&t->count, 1);
    stats_add_shared(&t->total_ns, ns);
    stats_add_shared(&t->buckets[bucket_of(ns)], 1);
    stats_raise_shared(&t->worst_ns, ns);
}

/* ---- who met whom */

static uint32_t place_of(const stats_row *row)
{
    return (uint32_t)(row - stats_tables->locks);
}

typedef struct part {
    stats_meet *begin;
    size_t size;
} part;

/* Half of the table is for waits: there are more locks that nobody waits for than it has room for holds. For the same
 * reason, a part is for the holds of locks that somebody has waited for. */
static part part_for(const stats_row *row, uint32_t waiter)
{
    stats_meet *all = stats_tables->meets;
    if (waiter != 0)
        return (part){all, STATS_MEETS / 2};
    bool wanted = stats_detail_id(row) != 0;
    return (part){all + STATS_MEETS / 2 + (wanted ? STATS_MEETS / 4 : 0), STATS_MEETS / 4};
}

/* A wait that gave up is added by a thread that does not own the lock, so it has a meet of its own. */
static stats_meet *meet_of(const stats_row *lock, uint32_t waiter, uint32_t holder)
{
    enum { NEIGHBOURHOOD = 128 };
    uint32_t row = place_of(lock);
    size_t first = (size_t)stats_mix(stats_mix((uint64_t)row << 32 | waiter) ^ holder);
    part p = part_for(lock, waiter);
    for (size_t i = 0; i < NEIGHBOURHOOD; i++) {
        stats_meet *m = &p.begin[(first + i) % p.size];
        uint32_t found = atomic_load_explicit(&m->row, memory_order_acquire);
        if (found == 0 && atomic_compare_exchange_strong_explicit(
                              &m->row, &found, STATS_CLAIMED, memory_order_relaxed, memory_order_relaxed)) {
            stats_set_id(&m->waiter, waiter);
            stats_set_id(&m->holder, holder);
            atomic_store_explicit(&m->row, row, memory_order_release);
            return m;
        }
        if (found == row && stats_get_id(&m->waiter) == waiter && stats_get_id(&m->holder) == holder)
            return m;
    }
    stats_add_shared(&stats_tables->lost_meets, 1);
    return NULL;
}

void stats_met(const stats_row *row, uint32_t waiter, uint32_t holder, uint64_t ns)
{
    stats_meet *m = meet_of(row, waiter, holder);
    if (m == NULL)
        return;
    stats_add(&m->count, 1);
    stats_add(&m->total_ns, ns);
    if (ns > stats_get(&m->worst_ns))
        stats_set(&m->worst_ns, ns);
}

void stats_met_in_vain(const stats_row *row, uint32_t waiter, uint32_t holder, uint64_t ns)
{
    stats_meet *m = meet_of(row, waiter | STATS_IN_VAIN, holder);
    if (m == NULL)
        return;
    stats_add_shared(&m->count, 1);
    stats_add_shared(&m->total_ns, ns);
    stats_raise_shared(&m->worst_ns, ns);
}
