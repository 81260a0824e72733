/* broken.c - a lock that does not lock, and a queue that loses items, in the place of the peers: both must be noticed */
#include "bench/queue.h"

#include <sched.h>
#include <stddef.h>

/* Stops the compiler from as much as any lock does, and no more. */
static inline void let_pass(int *l)
{
    __asm__ volatile("" : "+m"(*l)::"memory");
}

BENCH_PLAIN(broken, int, let_pass, let_pass)
BENCH_NO_INIT(broken)
BENCH_NO_DESTROY(broken)
BENCH_LOOPS(broken)

/* The queue has a lock that locks, and takes the first item that it finds: whether threads meet in one that does not is
 * up to the scheduler. */
static inline void steal_one(int *l)
{
    static bool stolen;
    while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    bench_shared *s = (bench_shared *)(void *)((char *)l - offsetof(bench_shared, locks[BENCH_QUEUE_LOCK]));
    bench_items *q = (bench_items *)s->extra;
    if (q->used > 0 && !stolen) {
        q->take = bench_next_place(q->take, q->places);
        q->used--;
        stolen = true;
    }
}

static inline void let_go(int *l)
{
    __atomic_store_n(l, 0, __ATOMIC_RELEASE);
}

BENCH_PLAIN(thief, int, steal_one, let_go)
BENCH_NO_INIT(thief)

static inline void come_back(char *c, int *l)
{
    (void)c;
    let_go(l);
    sched_yield();
    steal_one(l);
}

static inline void tell_nobody(char *c)
{
    (void)c;
}

BENCH_PLAIN_COND(thief, char, come_back, tell_nobody)
BENCH_NO_COND_INIT(thief)
BENCH_QUEUE_LOOPS(thief)

extern const bench_lock bench_set_broken[];
const bench_lock bench_set_broken[] = {
    BENCH_LOCK(broken, "broken", true, BENCH_SPINS),
    BENCH_END,
};

extern const bench_queue bench_queues_broken[];
const bench_queue bench_queues_broken[] = {
    BENCH_QUEUE(thief, "broken", true, BENCH_SPINS),
    BENCH_QUEUE_END,
};
