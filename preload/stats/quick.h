/* quick.h - the hooks of an uncontended pair, inline
 *
 * For the lock that the thread used last, if nobody has waited for it and its first uses are known: then no stack is
 * wanted, and all there is to do is to raise a counter and to note the owner. stats.c does the same for all others. Stores
 * are avoided where a load can tell that nothing changes: the next lock operation waits until all of them are done.
 */
#pragma once

#include "count.h"
#include "stats.h"

#include "preload/fork/epoch.h"

#include <stddef.h>

enum { STATS_FIRST_USES = 32 };

/* Memory is reused: where a mutex was, there may be a condition variable. */
static inline bool stats_is_of(const stats_row *row, const void *lock, stats_kind kind)
{
    return atomic_load_explicit(&row->lock, memory_order_relaxed) == (uintptr_t)lock &&
           atomic_load_explicit(&row->kind, memory_order_relaxed) == kind;
}

/* Without a rhythm: threads that take turns must not be told apart by it. */
static inline bool stats_is_chosen(uint64_t acquisitions, uint32_t chance)
{
    return (acquisitions * UINT64_C(0x9E3779B97F4A7C15)) >> 32 <= chance;
}

/* NULL: it takes stats.c. */
static inline stats_row *stats_quick_row(const void *lock, stats_kind kind)
{
    stats_row *row = self.row;
    return PAWL_LIKELY(row != NULL) && PAWL_LIKELY(stats_is_of(row, lock, kind)) ? row : NULL;
}

static inline bool stats_is_quiet(const stats_row *row)
{
    return PAWL_LIKELY(stats_detail_id(row) == 0) &&
           PAWL_LIKELY(stats_get(&row->acquisitions) >= STATS_FIRST_USES);
}

/* Last: a waiter that finds an owner believes that the call and the stack are that owner's. */
static inline void stats_set_owner(stats_row *row)
{
    atomic_store_explicit(&row->owner, self.tid, memory_order_release); /* O */
}

/* Only the lock's owner calls it, of a row that was quiet before. */
static inline void stats_quick_acquired(stats_row *row, const void *site)
{
    uint64_t acquisitions = stats_get(&row->acquisitions) + 1;
    stats_set(&row->acquisitions, acquisitions);
    if (PAWL_UNLIKELY(atomic_load_explicit(&row->site, memory_order_relaxed) != (uintptr_t)site))
        atomic_store_explicit(&row->site, (uintptr_t)site, memory_order_relaxed);
    if (PAWL_UNLIKELY(stats_get_id(&row->stack) != 0))
        stats_set_id(&row->stack, 0);
    stats_set_owner(row);
    if (PAWL_UNLIKELY(stats_is_chosen(acquisitions, stats_tables->chance)))
        stats_time(row);
}

/* The same for its release; false: it takes stats.c. */
static inline bool stats_quick_released(stats_row *row)
{
    if (PAWL_UNLIKELY(stats_get(&row->since) != 0))
        return false;
    stats_set_id(&row->owner, 0);
    return true;
}
