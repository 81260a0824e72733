/* hapax_vw2.h - Hapax lock, visible waiters that turn invisible (Dice & Kogan, PPoPP 2026, appendix F)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, 1 per thread; the array of slots.h is shared by all locks
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     semi-private: visible in the slot's first word for PAWL_HAPAX_GRACE looks; then, or at once if
 *             the word is taken, invisible on the slot's second word. Never global
 * Sharing     by threads of one process
 * Differs     the appendix describes it in prose. If registration and release cross and neither sees the other, the
 *             waiter turns invisible in time; so, unlike in hapax_vw.h, nothing here is seq_cst. Unlock pays for it:
 *             a release that meets no visible waiter also writes the slot's second word
 */
#pragma once

#include "hapax.h"
#include "hapax_vw.h"

/* A waiter that is not served within this many looks is on a lock where a fast hand-off does not matter. */
#ifndef PAWL_HAPAX_GRACE
#define PAWL_HAPAX_GRACE 256
#endif

typedef pawl_hapax_vw pawl_hapax_vw2;
typedef pawl_hapax_vw_ctx pawl_hapax_vw2_ctx;

/* Waits as a visible waiter. True once the lock is ours, false when the grace period is over. */
PAWL_SLOW_PATH bool pawl_hapax_wait_visible(pawl_word *depart, pawl_word *visible, uint64_t pred)
{
    if (PAWL_UNLIKELY(!pawl_cas_relaxed(visible, 0, pred)))
        return false;
    if (PAWL_UNLIKELY(atomic_load_explicit(depart, memory_order_acquire) == pred)) { /* A */
        pawl_cas_relaxed(visible, pred, 0);
        return true;
    }
    if (pawl_spin_while_eq(visible, pred, PAWL_HAPAX_GRACE)) /* C */
        return true;
    uint64_t seen = pred;
    /* C: if it is too late to withdraw, the lock is ours. Acquire on success too, because C11 wants the
     * success order no weaker than the failure's. */
    return !atomic_compare_exchange_strong_explicit(visible, &seen, 0, memory_order_acquire,
                                                    memory_order_acquire);
}

static inline void pawl_hapax_vw2_acquire(pawl_hapax_vw2 *l, pawl_hapax_vw2_ctx *c)
{
    uint64_t mine = c->hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    c->waited = atomic_load_explicit(&l->depart, memory_order_acquire) != pred; /* A */
    if (PAWL_LIKELY(!c->waited))
        return;
    pawl_slot *slot = pawl_slot_of(l, pred);
    if (!pawl_hapax_wait_visible(&l->depart, &slot->visible, pred))
        pawl_hapax_wait(&l->depart, &slot->notify, pred); /* A, B: see hapax.h */
}

static inline bool pawl_hapax_vw2_try_acquire(pawl_hapax_vw2 *l, pawl_hapax_vw2_ctx *c)
{
    return pawl_hapax_vw_try_acquire(l, c); /* A */
}

static inline void pawl_hapax_vw2_release(pawl_hapax_vw2 *l, pawl_hapax_vw2_ctx *c)
{
    uint64_t mine = c->hapax;
    pawl_slot *slot = pawl_slot_of(l, mine);
    if (pawl_hapax_hand_over(&slot->visible, mine, c->waited))
        return;
    pawl_post(&l->depart, mine); /* A: publishes the critical section */
    if (!pawl_hapax_hand_over(&slot->visible, mine, false))
        pawl_post(&slot->notify, mine); /* A, B: for a waiter that is, or will become, invisible */
}

PAWL_LOCK_FUNCTIONS(hapax_vw2, PAWL_HOW_OBLIVIOUS)
