/* reciprocating.h - Reciprocating lock (Dice & Kogan, PPoPP 2025, listing 1)
 *
 * Admission   segments: those that arrive while a segment is served form the next one; within a segment the
 *             latest arrival enters first
 * Bypass      once at most by each later arrival
 * Space       1 word per lock, 1 per thread: its element; a node for each waiter with a deadline
 * Unlock      by its owner, in constant time; does not touch the lock after the hand-off; see
 *             pawl_reciprocating_acquire_oblivious(). If successors with deadlines have left, once more for each of them
 * Waiting     local: each waiter watches its own element
 * Sharing     by threads of one process
 * Differs     only in the memory orders, which are the weakest that pass `pawl check`
 *
 *   0   unlocked
 *   1   held, nobody has arrived since the last segment was detached
 *   E   held; E is the latest arrival of a stack that ends at 1, or at the element of the owner that found
 *       the lock unlocked. That owner is not a waiter: its address travels along the segment as the end marker
 *
 *   gate 0 -> end   its thread may enter, and its segment ends before the element `end` (1: at the bottom)
 *
 *   E | TIMED      E is the node of a waiter with a deadline, and its gate is `wait`; what it found below it is in `next`
 *   wait == LEFT   it has left; its node is still on the stack, or in the segment
 *
 * A waiter that leaves waits for nobody: whoever hands the lock off finds LEFT, takes the node, and goes on as its thread
 * would have. Until then a thread that tries again and again leaves 128 bytes there each time.
 *
 * Only the owner may unlock: a thread that waits for a lock it gave away would push an element that is already on the
 * stack. So would a new thread in the memory of one that ended as the owner. pawl_reciprocating_acquire_oblivious()
 * leaves no element there, and then any thread may unlock.
 */
#pragma once

#include "detail/base.h"
#include "detail/element.h"
#include "detail/nodes.h"

#define PAWL_RECIPROCATING_EMPTY 1u
#define PAWL_RECIPROCATING_TIMED ((uint64_t)2) /* in `arrivals` and `next` */
#define PAWL_RECIPROCATING_LEFT  ((uint64_t)2) /* in `wait`                */

typedef struct pawl_reciprocating {
    pawl_word arrivals;
} pawl_reciprocating;

typedef struct pawl_reciprocating_ctx {
    uint64_t next; /* the element to enter after this owner, or 0                                      */
    uint64_t end;  /* the segment's end marker; without a `next`, what `arrivals` holds if nobody came */
} pawl_reciprocating_ctx;

/* What is left of the segment for a waiter that found `below` and whose gate says `end`. */
static inline void pawl_reciprocating_enter(pawl_reciprocating_ctx *c, uint64_t below, uint64_t end)
{
    c->next = below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
    c->end = end;
    if (c->next == end) {
        c->next = 0;
        c->end = PAWL_RECIPROCATING_EMPTY;
    }
}

static inline void pawl_reciprocating_acquire(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    /* A: acquires the critical section of an owner that left the lock unlocked.
     * B: publishes the zero in our gate to whoever will open it. */
    uint64_t below = atomic_exchange_explicit(&l->arrivals, pawl_address(mine), memory_order_acq_rel);
    c->next = 0;
    c->end = pawl_address(mine);
    if (PAWL_UNLIKELY(below != 0))
        pawl_reciprocating_enter(c, below,
                                 pawl_wait_while_eq(&mine->gate, 0)); /* C: sees all the last owner wrote */
}

static inline bool pawl_reciprocating_try_acquire(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    c->next = 0;
    c->end = PAWL_RECIPROCATING_EMPTY;
    return pawl_cas_acquire(&l->arrivals, 0, PAWL_RECIPROCATING_EMPTY); /* A */
}

/* Unlocks if nobody has arrived (0); else detaches those who have, and returns the latest of them. */
static inline uint64_t pawl_reciprocating_detach(pawl_reciprocating *l, uint64_t end)
{
    if (PAWL_LIKELY(pawl_cas_release(&l->arrivals, end, 0))) /* A */
        return 0;
    return atomic_exchange_explicit(&l->arrivals, PAWL_RECIPROCATING_EMPTY, memory_order_acquire); /* B */
}

/* Hands off to `next`, or, if it has left, to the first behind it that has not; takes the nodes of those that have. */
PAWL_SLOW_PATH void pawl_reciprocating_hand_off_timed(pawl_reciprocating *l, uint64_t next, uint64_t end)
{
    while (next & PAWL_RECIPROCATING_TIMED) {
        pawl_node *successor = (pawl_node *)(next & ~PAWL_RECIPROCATING_TIMED);
        /* C: publishes the critical section. If the successor has left, its node is ours: all that it wrote there came
         * before B. */
        if (atomic_exchange_explicit(&successor->wait, end, memory_order_release) !=
            PAWL_RECIPROCATING_LEFT) {
            pawl_wake(&successor->wait, end);
            return;
        }
        pawl_reciprocating_ctx rest;
        pawl_reciprocating_enter(&rest, atomic_load_explicit(&successor->next, memory_order_relaxed), end);
        atomic_store_explicit(&successor->next, 0, memory_order_relaxed);
        pawl_node_put(successor);
        next = rest.next;
        end = rest.end;
        if (next == 0 && (next = pawl_reciprocating_detach(l, end)) == 0)
            return;
    }
    pawl_post(&((pawl_element *)next)->gate, end); /* C */
}

static inline void pawl_reciprocating_release(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    uint64_t next = c->next;
    if (next == 0 && PAWL_LIKELY((next = pawl_reciprocating_detach(l, c->end)) == 0))
        return;
    if (PAWL_UNLIKELY(next & PAWL_RECIPROCATING_TIMED)) {
        pawl_reciprocating_hand_off_timed(l, next, c->end);
        return;
    }
    pawl_post(&((pawl_element *)next)->gate, c->end); /* C: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(reciprocating, PAWL_HOW_OWNER)

/* An owner that found the lock unlocked takes its element off the stack at once, as the swap form does
 * (reciprocating_variants.h). If others have arrived on top of it, they form the next segment. */
static inline void pawl_reciprocating_acquire_oblivious(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    if (PAWL_LIKELY(pawl_reciprocating_try_acquire(l, c)))
        return;
    pawl_reciprocating_acquire(l, c);
    if (c->next != 0 || c->end == PAWL_RECIPROCATING_EMPTY)
        return;
    uint64_t head =
        atomic_exchange_explicit(&l->arrivals, PAWL_RECIPROCATING_EMPTY, memory_order_acquire); /* B */
    if (head == c->end)
        c->end = PAWL_RECIPROCATING_EMPTY;
    else
        c->next = head;
}

#ifndef PAWL_FREESTANDING
/* Waits on the stack until the deadline at most. 0; ETIMEDOUT when it has passed on that clock (CLOCK_MONOTONIC or
 * CLOCK_REALTIME); EINVAL if the clock is another, or the deadline invalid. Sleeps, whatever the waiting policy. */
PAWL_HOOK int pawl_reciprocating_clocklock(pawl_reciprocating *l, pawl_reciprocating_ctx *c, int clock,
                                           const struct timespec *deadline)
{
    pawl_hook_locking(l, "pawl_reciprocating", PAWL_HOW_TRY);
    int result = PAWL_LIKELY(pawl_reciprocating_try_acquire(l, c))
                     ? 0
                     : pawl_reciprocating_lock_until(l, c, clock, deadline);
    pawl_hook_tried(l, "pawl_reciprocating", result == 0);
    return result;
}

/* The same with CLOCK_REALTIME, like pthread_mutex_timedlock(). */
PAWL_HOOK int pawl_reciprocating_timedlock(pawl_reciprocating *l, pawl_reciprocating_ctx *c,
                                           const struct timespec *deadline)
{
    return pawl_reciprocating_clocklock(l, c, 0, deadline);
}
#endif
