/* retrograde.h - ticket lock with the order of the reciprocating lock (Dice & Kogan, PPoPP 2025, listing 6)
 *
 * Admission   segments: those that arrive while a segment is served form the next one; within a segment the
 *             latest arrival enters first
 * Bypass      once at most by each later arrival
 * Space       3 words per lock, none per thread
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     global: every waiter watches `grant`
 * Sharing     by threads of one process
 * Differs     64-bit tickets; `top` and `base` are their lower halves, as they are never far apart
 *
 *   next == grant          unlocked
 *   (base, grant)          the rest of the segment: enters in descending order
 *   (top, next)            have arrived since it was formed
 *
 * `top` and `base` belong to the owner.
 */
#pragma once

#include "detail/base.h"

typedef struct pawl_retrograde {
    pawl_word next; /* ticket of the next arrival */
    PAWL_HOLE(pthread_owner)
    PAWL_HOLE(unused)
    PAWL_HOLE(pthread_kind)
    PAWL_HOLE(pthread_meta)
    pawl_word grant; /* ticket that may enter      */
    uint32_t top;
    uint32_t base;
} pawl_retrograde;

typedef pawl_no_ctx pawl_retrograde_ctx;

static inline void pawl_retrograde_acquire(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    pawl_wait_until_eq(&l->grant, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_retrograde_try_acquire(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    uint64_t grant = atomic_load_explicit(&l->grant, memory_order_acquire); /* A */
    return pawl_cas_relaxed(&l->next, grant, grant + 1);
}

static inline void pawl_retrograde_release(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    uint64_t grant = atomic_load_explicit(&l->grant, memory_order_relaxed) - 1;
    if ((int32_t)((uint32_t)grant - l->base) > 0) {
        pawl_post(&l->grant, grant); /* A: publishes the critical section */
        return;
    }
    uint64_t next = atomic_load_explicit(&l->next, memory_order_relaxed);
    bool alone = (uint32_t)next == l->top + 1;
    uint64_t top = alone ? next : next - 1;
    l->base = alone ? (uint32_t)next : l->top;
    l->top = (uint32_t)top;
    pawl_post(&l->grant, top); /* A */
}

PAWL_LOCK_FUNCTIONS(retrograde, PAWL_HOW_OBLIVIOUS)
