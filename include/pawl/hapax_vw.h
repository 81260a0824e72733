/* hapax_vw.h - Hapax lock with visible waiters (Dice & Kogan, PPoPP 2026, listings 3 and 5)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, 1 per thread; the array of slots.h is shared by all locks
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     semi-private: a waiter registers its predecessor's hapax in a slot and watches the slot; if
 *             the slot is taken it watches `depart`
 * Sharing     by threads of one process
 * Differs     unlock looks at the slot before it tries a CAS there, unless its own lock had to wait: then it tries at
 *             once, as in the listing
 *
 *   slot 0 -> pred   the waiter registers              slot pred -> 0   the owner hands off
 *
 * A registered waiter that the owner finds gets the lock without a write to `depart`. If registration and release
 * cross, at least one side sees the other: the waiter sees `depart`, or the owner sees the waiter after all. D labels
 * this Dekker pair, and is why four accesses are seq_cst.
 */
#pragma once

#include "detail/base.h"
#include "detail/hapax_block.h"
#include "detail/slots.h"

typedef struct pawl_hapax_vw {
    pawl_word arrive; /* hapax of the latest arrival                              */
    pawl_word depart; /* hapax of the latest departure that met no visible waiter */
} pawl_hapax_vw;

typedef struct pawl_hapax_vw_ctx {
    uint64_t hapax;
    PAWL_HOLE(pthread_owner)
    bool waited; /* then somebody probably waits for us, too */
} pawl_hapax_vw_ctx;

/* Registers as the visible waiter for `pred`. False if another waiter has the slot. */
static inline bool pawl_hapax_register(pawl_word *visible, uint64_t pred)
{
    uint64_t vacant = 0;
    return atomic_compare_exchange_strong_explicit(visible, &vacant, pred, memory_order_seq_cst,
                                                   memory_order_relaxed); /* D */
}

PAWL_SLOW_PATH void pawl_hapax_vw_wait(pawl_hapax_vw *l, uint64_t pred)
{
    pawl_word *visible = &pawl_slot_of(l, pred)->visible;
    if (PAWL_UNLIKELY(!pawl_hapax_register(visible, pred))) {
        pawl_wait_until_eq(&l->depart, pred); /* A */
        return;
    }
    if (PAWL_UNLIKELY(atomic_load_explicit(&l->depart, memory_order_seq_cst) == pred)) { /* A, D */
        /* The owner left before we were visible. It may or may not have cleared the slot since. */
        pawl_cas_relaxed(visible, pred, 0);
        return;
    }
    pawl_wait_while_eq(visible, pred); /* C: any change is the hand-off, as no hapax recurs */
}

static inline void pawl_hapax_vw_acquire(pawl_hapax_vw *l, pawl_hapax_vw_ctx *c)
{
    uint64_t mine = c->hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    c->waited = atomic_load_explicit(&l->depart, memory_order_acquire) != pred; /* A */
    if (PAWL_UNLIKELY(c->waited))
        pawl_hapax_vw_wait(l, pred);
}

static inline bool pawl_hapax_vw_try_acquire(pawl_hapax_vw *l, pawl_hapax_vw_ctx *c)
{
    uint64_t last = atomic_load_explicit(&l->arrive, memory_order_relaxed);
    if (atomic_load_explicit(&l->depart, memory_order_acquire) != last) /* A */
        return false;
    c->hapax = pawl_hapax_next();
    c->waited = false;
    return pawl_cas_relaxed(&l->arrive, last, c->hapax);
}

/* Hands off to a visible waiter, if there is one. An owner that had to wait itself expects one, and skips the look,
 * which would fetch the slot's line twice. */
static inline bool pawl_hapax_hand_over(pawl_word *visible, uint64_t mine, bool waited)
{
    return (waited || atomic_load_explicit(visible, memory_order_relaxed) == mine) &&
           pawl_post_cas(visible, mine, 0); /* C: publishes the critical section to the visible waiter */
}

/* Releases the lock through `depart`, then hands off to a waiter that registered meanwhile. True if there was one. */
static inline bool pawl_hapax_depart(pawl_word *depart, pawl_word *visible, uint64_t mine)
{
    pawl_post_seq_cst(depart, mine); /* A: publishes the critical section; D */
    if (PAWL_LIKELY(atomic_load_explicit(visible, memory_order_seq_cst) != mine)) /* D */
        return false;
    return pawl_post_cas(visible, mine, 0); /* C; fails if the waiter saw `depart` and withdrew */
}

static inline void pawl_hapax_vw_release(pawl_hapax_vw *l, pawl_hapax_vw_ctx *c)
{
    uint64_t mine = c->hapax;
    pawl_word *visible = &pawl_slot_of(l, mine)->visible;
    if (pawl_hapax_hand_over(visible, mine, c->waited))
        return;
    pawl_hapax_depart(&l->depart, visible, mine);
}

PAWL_LOCK_FUNCTIONS(hapax_vw, PAWL_HOW_OBLIVIOUS)
