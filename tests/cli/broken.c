/* broken.c - a lock that does not lock, and a queue that loses items, in the place of the peers: both must be noticed */
#include "bench/queue.h"

#include <sched.h>
#include <stddef.h>

/* Stops the compiler from as much as any lock does, and no more. */
static inline void let_pass(int *l)
{
    __asm__ volatile("" : "+m"(*l)::"memory");
}

static inline bench_shared *shared_of(int *l)
{
    return (bench_shared *)(void *)((char *)l - offsetof(bench_shared, locks));
}

/* Does what a second owner would do that came with the last one: its result prevails. Whether threads really meet in a
 * lock that does not lock is up to the scheduler. */
static inline void undo(int *l)
{
    static generator data;
    static mersenne twister;
    static bool came;
    bench_shared *s = shared_of(l);
    let_pass(l);
    if (came) {
        s->data = data;
        s->twister = twister;
        return;
    }
    came = true;
    data = s->data;
    twister = s->twister;
}

BENCH_PLAIN(broken, int, undo, let_pass)
BENCH_NO_INIT(broken)
BENCH_NO_DESTROY(broken)
BENCH_LOOPS(broken)

static inline void steal(int *l)
{
    let_pass(l);
    bench_items *q = (bench_items *)shared_of(l)->extra;
    if (q->used > 0) {
        q->take = bench_next_place(q->take, q->places);
        q->used--;
    }
}

BENCH_PLAIN(thief, int, steal, let_pass)
BENCH_NO_INIT(thief)

static inline void come_back(char *c, int *l)
{
    (void)c, (void)l;
    sched_yield();
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
