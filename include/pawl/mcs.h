/* mcs.h - MCS queue lock (Mellor-Crummey & Scott 1991; baseline in all four papers)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       1 word per lock, none per thread; a node per lock held or waited for, from the thread's cache
 * Unlock      by any thread, not in constant time: waits until a successor that has arrived is linked up; does not
 *             touch the lock after the hand-off. If successors with deadlines have left, once more for each of them
 * Waiting     local: each waiter watches its own node
 * Sharing     by threads of one process
 * Differs     the owner's node travels in the context, not in the lock; `next` is cleared after use, not before
 *
 *   tail == 0   unlocked
 *   tail        the node of the last arrival; from the owner's node, `next` leads there
 *
 *   next | TIMED   the successor has a deadline, and may have left
 *   wait == LEFT   it has left; its node is still in the queue
 *
 * A waiter that leaves waits for nobody: whoever hands the lock off finds LEFT, takes the node, and goes on to the next.
 * Until then its node stays in the queue: a thread that tries again and again while the lock is held, with a new deadline
 * each time, leaves 128 bytes there each time.
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

#define PAWL_MCS_TIMED ((uint64_t)1) /* in `next` */
#define PAWL_MCS_LEFT  ((uint64_t)2) /* in `wait` */

/* Unlocks if nobody comes after `mine` (0); else returns the successor, perhaps TIMED, once it has linked up. */
static inline uint64_t pawl_mcs_successor(pawl_mcs *l, pawl_node *mine)
{
    uint64_t next = atomic_load_explicit(&mine->next, memory_order_acquire);         /* C */
    if (next != 0 || PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return next;
    return pawl_wait_while_eq(&mine->next, 0); /* C */
}

/* Hands off to the first successor that has not left, and takes the nodes of those that have. */
PAWL_SLOW_PATH void pawl_mcs_hand_off_timed(pawl_mcs *l, pawl_node *mine, uint64_t next)
{
    while (next & PAWL_MCS_TIMED) {
        pawl_node *successor = (pawl_node *)(next & ~PAWL_MCS_TIMED);
        /* D: publishes the critical section. If the successor has left, its node is ours: all that it wrote there came
         * before C. */
        bool left = atomic_exchange_explicit(&successor->wait, 0, memory_order_release) == PAWL_MCS_LEFT;
        if (!left)
            pawl_wake(&successor->wait, 0);
        atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
        pawl_node_put(mine);
        if (!left)
            return;
        mine = successor;
        next = pawl_mcs_successor(l, mine);
    }
    if (next != 0) {
        pawl_post(&((pawl_node *)next)->wait, 0); /* D */
        atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    }
    pawl_node_put(mine);
}

static inline void pawl_mcs_release(pawl_mcs *l, pawl_mcs_ctx *c)
{
    pawl_node *mine = c->node;
    uint64_t next = pawl_mcs_successor(l, mine);
    if (PAWL_LIKELY(next == 0)) {
        pawl_node_put(mine);
        return;
    }
    if (PAWL_UNLIKELY(next & PAWL_MCS_TIMED)) {
        pawl_mcs_hand_off_timed(l, mine, next);
        return;
    }
    pawl_post(&((pawl_node *)next)->wait, 0); /* D: publishes the critical section */
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    pawl_node_put(mine);
}

PAWL_LOCK_FUNCTIONS(mcs, PAWL_HOW_OBLIVIOUS)

#ifndef PAWL_FREESTANDING
/* Waits in line until the deadline at most. 0; ETIMEDOUT when it has passed on that clock (CLOCK_MONOTONIC or
 * CLOCK_REALTIME); EINVAL if the clock is another, or the deadline invalid. Sleeps, whatever the waiting policy. */
PAWL_HOOK int pawl_mcs_clocklock(pawl_mcs *l, pawl_mcs_ctx *c, int clock, const struct timespec *deadline)
{
    pawl_hook_locking(l, "pawl_mcs", PAWL_HOW_TRY);
    int result = PAWL_LIKELY(pawl_mcs_try_acquire(l, c)) ? 0 : pawl_mcs_lock_until(l, c, clock, deadline);
    pawl_hook_tried(l, "pawl_mcs", result == 0);
    return result;
}

/* The same with CLOCK_REALTIME, like pthread_mutex_timedlock(). */
PAWL_HOOK int pawl_mcs_timedlock(pawl_mcs *l, pawl_mcs_ctx *c, const struct timespec *deadline)
{
    return pawl_mcs_clocklock(l, c, 0, deadline);
}
#endif
