/* reciprocating_shuffle.h - Reciprocating lock that breaks palindromic schedules (Dice & Kogan, PPoPP 2025,
 * section 9.4)
 *
 * Admission   shuffled segments: within one the latest arrival enters first, but now and then one that could
 *             enter lets the rest of its segment go first
 * Bypass      once at most by each later arrival: nobody leaves its segment
 * Space       1 word per lock, 3 words per thread: its element and its coin
 * Unlock      by its owner, in constant time; does not touch the lock after the hand-off
 * Waiting     local: each waiter watches its own element
 * Sharing     by threads of one process
 * Differs     the section describes it in prose. At most one thread of a segment steps back; its element travels
 *             along behind the end marker
 *
 * The encoding is that of reciprocating.h.
 */
#pragma once

#include "detail/random.h"
#include "reciprocating.h"

/* One owner in this many steps back. */
#ifndef PAWL_SHUFFLE_ONE_IN
#define PAWL_SHUFFLE_ONE_IN 32
#endif

typedef pawl_reciprocating pawl_reciprocating_shuffle;

typedef struct pawl_reciprocating_shuffle_ctx {
    pawl_reciprocating_ctx base;
    uint64_t deferred; /* the element of the thread that stepped back in this segment, or 0 */
} pawl_reciprocating_shuffle_ctx;

/* Opens the gate of the next thread in the segment. */
static inline void pawl_shuffle_pass(const pawl_reciprocating_shuffle_ctx *c)
{
    pawl_element *next = (pawl_element *)c->base.next;
    atomic_store_explicit(&next->next, c->deferred, memory_order_relaxed); /* before its gate: C */
    pawl_post(&next->gate, c->base.end); /* C: publishes the critical section */
}

static inline void pawl_reciprocating_shuffle_acquire(pawl_reciprocating_shuffle *l,
                                                      pawl_reciprocating_shuffle_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    pawl_reciprocating_acquire(l, &c->base); /* A, B, C */
    c->deferred = 0;
    if (PAWL_LIKELY(c->base.end == pawl_address(mine)))
        return; /* found it unlocked */
    c->deferred = atomic_load_explicit(&mine->next, memory_order_relaxed);
    if (c->base.next == 0 || c->deferred != 0 || !pawl_one_in(PAWL_SHUFFLE_ONE_IN))
        return;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    c->deferred = pawl_address(mine);
    pawl_shuffle_pass(c);
    c->base.end = pawl_wait_while_eq(&mine->gate, 0); /* C; the segment is over, nobody is left behind us */
    c->base.next = 0;
    c->deferred = 0;
}

static inline bool pawl_reciprocating_shuffle_try_acquire(pawl_reciprocating_shuffle *l,
                                                          pawl_reciprocating_shuffle_ctx *c)
{
    c->deferred = 0;
    return pawl_reciprocating_try_acquire(l, &c->base); /* A */
}

static inline void pawl_reciprocating_shuffle_release(pawl_reciprocating_shuffle *l,
                                                      pawl_reciprocating_shuffle_ctx *c)
{
    if (PAWL_UNLIKELY(c->base.next != 0))
        pawl_shuffle_pass(c);
    else if (PAWL_UNLIKELY(c->deferred != 0))
        pawl_post(&((pawl_element *)c->deferred)->gate, PAWL_RECIPROCATING_EMPTY); /* C */
    else
        pawl_reciprocating_release(l, &c->base); /* A, B, C */
}

PAWL_LOCK_FUNCTIONS(reciprocating_shuffle, PAWL_HOW_OWNER)
