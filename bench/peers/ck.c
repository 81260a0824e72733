/* ck.c - spinlocks of Concurrency Kit, as its own benchmarks use them: nodes of MCS on the stack, of CLH
 * with the thread */
#include "bench/queue.h"

#include <ck_spinlock.h>
#include <stdlib.h>

BENCH_PLAIN(fas, ck_spinlock_fas_t, ck_spinlock_fas_lock, ck_spinlock_fas_unlock)
BENCH_NO_INIT(fas)
BENCH_NO_DESTROY(fas)
BENCH_LOOPS(fas)

BENCH_PLAIN(ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_lock, ck_spinlock_ticket_unlock)
BENCH_NO_INIT(ticket)
BENCH_NO_DESTROY(ticket)
BENCH_LOOPS(ticket)

typedef ck_spinlock_mcs_t bench_mcs;
typedef struct bench_mcs_ctx {
    BENCH_ALIGNED ck_spinlock_mcs_context_t node;
} bench_mcs_ctx;
BENCH_NO_INIT(mcs)
BENCH_NO_ATTACH(mcs)
BENCH_NO_DESTROY(mcs)

static inline void bench_mcs_lock(bench_mcs *l, bench_mcs_ctx *c)
{
    ck_spinlock_mcs_lock(l, &c->node);
}

static inline void bench_mcs_unlock(bench_mcs *l, bench_mcs_ctx *c)
{
    ck_spinlock_mcs_unlock(l, &c->node);
}

BENCH_LOOPS(mcs)

typedef ck_spinlock_clh_t *bench_clh;
typedef ck_spinlock_clh_t *bench_clh_ctx;
BENCH_NO_DESTROY(clh)

/* Nodes wander from thread to thread and are not freed: the process ends with the run. */
static ck_spinlock_clh_t *clh_node(void)
{
    ck_spinlock_clh_t *node = aligned_alloc(BENCH_SECTOR, BENCH_SECTOR);
    if (node == NULL)
        abort();
    return node;
}

static inline void bench_clh_init(bench_clh *l)
{
    ck_spinlock_clh_init(l, clh_node());
}

static inline void bench_clh_attach(bench_clh *l, bench_clh_ctx *c)
{
    (void)l;
    *c = clh_node();
}

static inline void bench_clh_lock(bench_clh *l, bench_clh_ctx *c)
{
    ck_spinlock_clh_lock(l, *c);
}

static inline void bench_clh_unlock(bench_clh *l, bench_clh_ctx *c)
{
    (void)l;
    ck_spinlock_clh_unlock(c);
}

BENCH_LOOPS(clh)

extern const bench_lock bench_set_ck[];
const bench_lock bench_set_ck[] = {
    BENCH_LOCK(fas, "ck_fas", true, BENCH_SPINS),
    BENCH_LOCK(ticket, "ck_ticket", true, BENCH_SPINS),
    BENCH_LOCK(mcs, "ck_mcs", true, BENCH_SPINS),
    BENCH_LOCK(clh, "ck_clh", true, BENCH_SPINS),
    BENCH_END,
};

extern const bench_queue bench_queues_ck[];
const bench_queue bench_queues_ck[] = {BENCH_QUEUE_END}; /* it has no condition variable */
