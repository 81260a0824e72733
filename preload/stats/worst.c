/* worst.c - the longest waits, and those that have not ended */
#include "count.h"
#include "stats.h"

#include "preload/fork/epoch.h"

#include <stddef.h>
#include <sys/prctl.h>

static stats_wait *shortest_kept(stats_longest *l, uint64_t *second_ns)
{
    stats_wait *least = &l->waits[0];
    uint64_t least_ns = UINT64_MAX;
    *second_ns = UINT64_MAX;
    for (int i = 0; i < STATS_WORST; i++) {
        stats_wait *w = &l->waits[i];
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

static void describe(stats_wait *w, const stats_call *c)
{
    stats_set(&w->held_since, c->held_since);
    stats_set_id(&w->row, (uint32_t)(c->row - stats_tables->locks));
    stats_set_id(&w->waiter, c->stack);
    stats_set_id(&w->holder, c->holder);
    stats_set_id(&w->holder_tid, c->holder_tid);
}

void stats_keep_if_long(const stats_call *c, uint64_t end)
{
    stats_table *t = stats_tables;
    /* Idle threads wait for condition variables, longer than anybody waits for a lock. */
    stats_longest *l = &t->worst[atomic_load_explicit(&c->row->kind, memory_order_relaxed) == STATS_COND];
    if (end - c->start_ns <= stats_get(&l->least_ns) || !stats_enter(&t->worst_lock))
        return;
    uint64_t second;
    stats_wait *w = shortest_kept(l, &second);
    uint64_t ns = end - c->start_ns;
    if (ns > stats_get(&w->end_ns) - stats_get(&w->start_ns)) {
        stats_set(&w->end_ns, 0);
        atomic_thread_fence(
            memory_order_release); /* who reads any of what follows finds it free, or complete */
        stats_set(&w->start_ns, c->start_ns);
        stats_set_id(&w->waiter_tid, self.tid);
        describe(w, c);
        prctl(PR_GET_NAME, w->waiter_name);
        atomic_store_explicit(&w->end_ns, end, memory_order_release);
        stats_set(&l->least_ns, second < ns ? second : ns);
    }
    atomic_store_explicit(&t->worst_lock, 0, memory_order_release);
}

void stats_enlist(stats_call *c)
{
    enum { NEIGHBOURHOOD = 32 };
    bool fits = c->row != NULL && self.tid != 0;
    for (uint32_t i = 0; i < NEIGHBOURHOOD && c->waiting == NULL && fits; i++) {
        stats_wait *w = &stats_tables->waiting[(self.tid + i) % STATS_WAITING];
        uint32_t nobody = 0;
        if (stats_get_id(&w->waiter_tid) == 0 &&
            atomic_compare_exchange_strong_explicit(&w->waiter_tid, &nobody, self.tid, memory_order_acquire,
                                                    memory_order_relaxed))
            c->waiting = w;
    }
    c->unlisted = c->waiting == NULL;
    if (c->unlisted) {
        stats_add_shared(&stats_tables->unlisted, 1);
        return;
    }
    describe(c->waiting, c);
    /* Last: now it counts, and all the rest of it is there. */
    atomic_store_explicit(&c->waiting->start_ns, c->start_ns, memory_order_release);
}

void stats_discharge(const stats_call *c)
{
    if (c->unlisted)
        atomic_fetch_sub_explicit(&stats_tables->unlisted, 1, memory_order_relaxed);
    if (c->waiting == NULL)
        return;
    stats_set(&c->waiting->start_ns, 0);
    atomic_store_explicit(&c->waiting->waiter_tid, 0, memory_order_release);
}
