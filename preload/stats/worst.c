/* worst.c - the longest waits */
#include "count.h"
#include "stats.h"

#include "preload/fork/epoch.h"

#include <sys/prctl.h>

static stats_wait *shortest_kept(uint64_t *second_ns)
{
    stats_wait *least = &stats_tables->worst[0];
    uint64_t least_ns = UINT64_MAX;
    *second_ns = UINT64_MAX;
    for (int i = 0; i < STATS_WORST; i++) {
        stats_wait *w = &stats_tables->worst[i];
        uint64_t ns = stats_get(&w->end_ns) - stats_get(&w->start_ns);
        if (ns < least_ns) {
            *second_ns = least_ns;
            least_ns = ns;
            least = w;
        } else if (ns < *second_ns) {
            *second_ns = ns;
        }
    }
    return least;
}

bool stats_enter(_Atomic uint32_t *lock)
{
    enum { LOOKS = 10000 }; /* a handler may have interrupted the thread that is inside */
    for (int i = 0; i < LOOKS; i++)
        if (atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0)
            return true;
    return false;
}

void stats_keep_if_long(const stats_call *c, uint64_t end)
{
    stats_table *t = stats_tables;
    if (end - c->start_ns <= stats_get(&t->worst_least_ns) || !stats_enter(&t->worst_lock))
        return;
    uint64_t second;
    stats_wait *w = shortest_kept(&second);
    uint64_t ns = end - c->start_ns;
    if (ns > stats_get(&w->end_ns) - stats_get(&w->start_ns)) {
        stats_set(&w->end_ns, 0);
        stats_set(&w->start_ns, c->start_ns);
        stats_set(&w->held_since, c->held_since);
        stats_set_id(&w->row, (uint32_t)(c->row - t->locks));
        stats_set_id(&w->waiter, c->stack);
        stats_set_id(&w->holder, c->holder);
        stats_set_id(&w->waiter_tid, self.tid);
        stats_set_id(&w->holder_tid, c->holder_tid);
        prctl(PR_GET_NAME, w->waiter_name);
        stats_set(&w->end_ns, end);
        stats_set(&t->worst_least_ns, second < ns ? second : ns);
    }
    atomic_store_explicit(&t->worst_lock, 0, memory_order_release);
}
