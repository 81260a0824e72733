/* count.h - counters of one writer, and of several */
#pragma once

#include "table.h"

static inline void stats_set(stats_count *c, uint64_t value)
{
    atomic_store_explicit(c, value, memory_order_relaxed);
}

static inline void stats_set_id(stats_id *i, uint32_t value)
{
    atomic_store_explicit(i, value, memory_order_relaxed);
}

/* Only the lock's owner calls it. */
static inline void stats_add(stats_count *c, uint64_t n)
{
    stats_set(c, stats_get(c) + n);
}

/* Any thread may call it. */
static inline void stats_add_shared(stats_count *c, uint64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

/* Any thread may call it. */
static inline void stats_raise_shared(stats_count *most, uint64_t n)
{
    uint64_t before = stats_get(most);
    while (n > before && !atomic_compare_exchange_weak_explicit(most, &before, n, memory_order_relaxed,
                                                                memory_order_relaxed))
        ;
}

/* The next free place of an array, counted from 1; 0: none is left. */
static inline uint32_t stats_take(stats_id *used, uint32_t n, uint32_t size)
{
    if (stats_get_id(used) + n >= size)
        return 0;
    uint32_t before = atomic_fetch_add_explicit(used, n, memory_order_relaxed);
    return before + n < size ? before + 1 : 0;
}

static inline uint64_t stats_mix(uint64_t a)
{
    a *= UINT64_C(0x9E3779B97F4A7C15);
    return a ^ (a >> 32);
}
