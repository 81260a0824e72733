/* broken.c - a lock that does not lock, in the place of the peers: the replay must notice */
#include "bench/queue.h"

#include <sched.h>

/* Stops the compiler from as much as any lock does, and no more. */
static inline void let_pass(int *l)
{
    __asm__ volatile("" : "+m"(*l)::"memory");
}

BENCH_PLAIN(broken, int, let_pass, let_pass)
BENCH_NO_INIT(broken)
BENCH_NO_DESTROY(broken)
BENCH_LOOPS(broken)

static inline void come_back(char *c, int *l)
{
    (void)c, (void)l;
    sched_yield();
}

static inline void tell_nobody(char *c)
{
    (void)c;
}

BENCH_PLAIN_COND(broken, char, come_back, tell_nobody)
BENCH_NO_COND_INIT(broken)
BENCH_QUEUE_LOOPS(broken)

extern const bench_lock bench_set_broken[];
const bench_lock bench_set_broken[] = {
    BENCH_LOCK(broken, "broken", true, BENCH_SPINS),
    BENCH_END,
};

extern const bench_queue bench_queues_broken[];
const bench_queue bench_queues_broken[] = {
    BENCH_QUEUE(broken, "broken", true, BENCH_SPINS),
    BENCH_QUEUE_END,
};
