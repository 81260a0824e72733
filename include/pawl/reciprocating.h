/* reciprocating.h - Reciprocating lock (Dice & Kogan, PPoPP 2025, listing 1)
 *
 * Admission   segments: those that arrive while a segment is served form the next one; within a segment the
 *             latest arrival enters first
 * Bypass      once at most by each later arrival
 * Space       1 word per lock, 1 per thread: its element
 * Unlock      by its owner, in constant time; does not touch the lock after the hand-off; see
 *             pawl_reciprocating_acquire_oblivious()
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
 * Only the owner may unlock: a thread that waits for a lock it gave away would push an element that is already on the
 * stack. So would a new thread in the memory of one that ended as the owner. pawl_reciprocating_acquire_oblivious()
 * leaves no element there, and then any thread may unlock.
 */
#pragma once

#include "detail/base.h"
#include "detail/element.h"

#define PAWL_RECIPROCATING_EMPTY 1u

typedef struct pawl_reciprocating {
    pawl_word arrivals;
} pawl_reciprocating;

typedef struct pawl_reciprocating_ctx {
    uint64_t next; /* the element to enter after this owner, or 0                                      */
    uint64_t end;  /* the segment's end marker; without a `next`, what `arrivals` holds if nobody came */
} pawl_reciprocating_ctx;

static inline void pawl_reciprocating_acquire(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    /* A: acquires the critical section of an owner that left the lock unlocked.
     * B: publishes the zero in our gate to whoever will open it. */
    uint64_t below = atomic_exchange_explicit(&l->arrivals, pawl_address(mine), memory_order_acq_rel);
    uint64_t next = 0, end = pawl_address(mine);
    if (PAWL_UNLIKELY(below != 0)) {
        next = below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
        end = pawl_wait_while_eq(&mine->gate, 0); /* C: sees all the last owner wrote */
        if (next == end) {
            next = 0;
            end = PAWL_RECIPROCATING_EMPTY;
        }
    }
    c->next = next;
    c->end = end;
}

static inline bool pawl_reciprocating_try_acquire(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    c->next = 0;
    c->end = PAWL_RECIPROCATING_EMPTY;
    return pawl_cas_acquire(&l->arrivals, 0, PAWL_RECIPROCATING_EMPTY); /* A */
}

static inline void pawl_reciprocating_release(pawl_reciprocating *l, pawl_reciprocating_ctx *c)
{
    uint64_t next = c->next;
    if (next == 0) {
        if (PAWL_LIKELY(pawl_cas_release(&l->arrivals, c->end, 0))) /* A */
            return;
        next = atomic_exchange_explicit(&l->arrivals, PAWL_RECIPROCATING_EMPTY, memory_order_acquire); /* B */
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
