/* clh.h - CLH queue lock with a standard interface (Craig 1993, Magnusson et al. 1994; Scott fig. 4.14)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock and, once it has been used, the node of its last owner; none per thread;
 *             one node per waiter
 * Unlock      constant time; does not touch the lock after the hand-over
 * Waiting     local: each waiter watches its predecessor's node, which becomes its own afterwards
 * Differs     a lock gets its first node from its first owner, so that all-zero is unlocked. The node stays
 *             with the lock: pawl_clh_destroy() takes it back, a lock abandoned without it keeps 128 bytes
 *
 *   tail == 0      unlocked, never used
 *   tail->wait 0   unlocked
 *   tail->wait 1   held; tail is the node of the last arrival
 */
#pragma once

#include "base.h"
#include "nodes.h"

typedef struct pawl_clh {
    pawl_word tail;
    pawl_node *owner; /* written and read by the owner only: what unlock has to release */
} pawl_clh;

typedef pawl_no_ctx pawl_clh_ctx;

static inline void pawl_clh_lock(pawl_clh *l, pawl_clh_ctx *c)
{
    (void)c;
    pawl_node *mine = pawl_node_get();
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    /* B: acquires the predecessor's wait == 1, and releases ours to the successor: a node circulates, and
     * whoever saw the zero of its last life would enter. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (PAWL_LIKELY(before != 0)) {
        pawl_wait_until_eq(&((pawl_node *)before)->wait, 0); /* A: sees all the last owner wrote */
        pawl_node_put((pawl_node *)before);
    }
    l->owner = mine;
}

static inline void pawl_clh_unlock(pawl_clh *l, pawl_clh_ctx *c)
{
    (void)c;
    pawl_post(&l->owner->wait, 0); /* A: publishes the critical section */
}

/* For a lock that is unlocked and that nobody will use again. */
static inline void pawl_clh_destroy(pawl_clh *l)
{
    uint64_t last = atomic_exchange_explicit(&l->tail, 0, memory_order_relaxed);
    if (last != 0)
        pawl_node_put((pawl_node *)last);
}
