/* mcs.h - MCS queue lock (Mellor-Crummey & Scott 1991; baseline in all four papers)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       1 word per lock, none per thread; a node per lock held or waited for, from the thread's cache
 * Unlock      by any thread, not in constant time: waits until a successor that has arrived is linked up; does not
 *             touch the lock after the hand-off
 * Waiting     local: each waiter watches its own node
 * Sharing     by threads of one process
 * Differs     the owner's node travels in the context, not in the lock; `next` is cleared after use, not before
 *
 *   tail == 0   unlocked
 *   tail        the node of the last arrival; from the owner's node, `next` leads there
 */
#pragma once

#include "detail/base.h"
#include "detail/nodes.h"

typedef struct pawl_mcs {
    pawl_word tail;
} pawl_mcs;

typedef struct pawl_mcs_ctx {
    pawl_node *node;
} pawl_mcs_ctx;

static inline void pawl_mcs_acquire(pawl_mcs *l, pawl_mcs_ctx *c)
{
    pawl_node *mine = c->node = pawl_node_get();
    /* A: acquires the critical section of an owner that found no successor.
     * B: publishes the zero in `next`, as old as the node's last use, to the successor that will overwrite it. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (PAWL_LIKELY(before == 0))
        return;
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    pawl_post(&((pawl_node *)before)->next, pawl_address(mine)); /* C: publishes wait == 1 */
    pawl_wait_until_eq(&mine->wait, 0);                          /* D: sees all the last owner wrote */
}

static inline bool pawl_mcs_try_acquire(pawl_mcs *l, pawl_mcs_ctx *c)
{
    pawl_node *mine = pawl_node_get();
    if (!pawl_cas_acq_rel(&l->tail, 0, pawl_address(mine))) { /* A, B */
        pawl_node_put(mine);
        return false;
    }
    c->node = mine;
    return true;
}

static inline void pawl_mcs_release(pawl_mcs *l, pawl_mcs_ctx *c)
{
    pawl_node *mine = c->node;
    uint64_t next = atomic_load_explicit(&mine->next, memory_order_acquire); /* C */
    if (next == 0) {
        if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) { /* A */
            pawl_node_put(mine);
            return;
        }
        next = pawl_wait_while_eq(&mine->next, 0); /* C */
    }
    pawl_post(&((pawl_node *)next)->wait, 0); /* D: publishes the critical section */
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    pawl_node_put(mine);
}

PAWL_LOCK_FUNCTIONS(mcs, PAWL_HOW_OBLIVIOUS)
