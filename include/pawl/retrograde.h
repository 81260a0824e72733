/* retrograde.h - ticket lock with the order of the reciprocating lock (Dice & Kogan, PPoPP 2025, listing 6)
 *
 * Admission   segments: those that arrive while a segment is served form the next one; within a segment the
 *             latest arrival enters first
 * Bypass      a later arrival overtakes a waiting thread once at most
 * Space       4 words per lock, none per thread
 * Unlock      constant time; does not touch the lock after the hand-over
 * Waiting     global: every waiter watches `grant`
 * Differs     64-bit tickets throughout
 *
 *   next == grant          unlocked
 *   (base, grant)          the rest of the segment: enters in descending order
 *   (top, next)            have arrived since it was formed
 *
 * `top` and `base` belong to the owner.
 */
#pragma once

#include "base.h"

typedef struct pawl_retrograde {
    pawl_word next;  /* ticket of the next arrival */
    pawl_word grant; /* ticket that may enter      */
    int64_t top;
    int64_t base;
} pawl_retrograde;

typedef pawl_no_ctx pawl_retrograde_ctx;

static inline void pawl_retrograde_lock(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    pawl_wait_until_eq(&l->grant, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_retrograde_trylock(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    uint64_t grant = atomic_load_explicit(&l->grant, memory_order_acquire); /* A */
    return pawl_cas_relaxed(&l->next, grant, grant + 1);
}

static inline void pawl_retrograde_unlock(pawl_retrograde *l, pawl_retrograde_ctx *c)
{
    (void)c;
    int64_t grant = (int64_t)atomic_load_explicit(&l->grant, memory_order_relaxed) - 1;
    if (grant > l->base) {
        pawl_post(&l->grant, (uint64_t)grant); /* A: publishes the critical section */
        return;
    }
    int64_t next = (int64_t)atomic_load_explicit(&l->next, memory_order_relaxed);
    bool alone = next == l->top + 1;
    l->base = alone ? next : l->top;
    l->top = alone ? next : next - 1;
    pawl_post(&l->grant, (uint64_t)l->top); /* A */
}
