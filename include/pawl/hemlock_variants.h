/* hemlock_variants.h - Hemlock's other listings (Dice & Kogan, SPAA 2021, listings 1, 3, 4, 5, 6)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       1 word per lock, 1 per thread
 * Unlock      by its owner, not in constant time, as in hemlock.h; does not touch the lock after the hand-off;
 *             `hemlock_overlap`: does not wait for its successor, but at its next hand-off, or when the thread ends,
 *             until the mailbox is empty;
 *             `hemlock_ah`: hands off before it knows whether anybody waits, and so touches the lock after the
 *             hand-off: the next owner must not free it
 * Waiting     local as long as a thread holds one contended lock at a time
 * Sharing     by threads of one process
 * Differs     arrival is a release; so is a successor's last access to the mailbox, which the owner acquires, because
 *             the mailbox comes and goes with its thread; `overlap` has an exit rule for the same reason
 *             (detail/mailboxes.h)
 *
 * `overlap` and `oh1` have a mailbox of their own: a thread may hold locks of several kinds, whose mailboxes mean
 * different things.
 */
#pragma once

#include "hemlock.h"

/* Listing 1, `hemlock_naive`: the same protocol, polled with loads. */

typedef pawl_hemlock pawl_hemlock_naive;
typedef pawl_no_ctx pawl_hemlock_naive_ctx;
#define PAWL_MAILBOX_hemlock_naive , &pawl_hemlock_self.grant

static inline void pawl_hemlock_naive_acquire(pawl_hemlock_naive *l, pawl_hemlock_naive_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    /* A: acquires the critical section of an owner that found no successor. D: publishes our mailbox as empty: the
     * successor's load may be stale, and must not find this lock there from an earlier hand-off. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (PAWL_LIKELY(before == 0))
        return;
    pawl_wait_until_eq((pawl_word *)before, pawl_address(l)); /* B: sees all the last owner wrote */
    pawl_post((pawl_word *)before, 0);                        /* C */
}

static inline bool pawl_hemlock_naive_try_acquire(pawl_hemlock_naive *l, pawl_hemlock_naive_ctx *c)
{
    (void)c;
    return pawl_cas_acq_rel(&l->tail, 0, pawl_address(&pawl_hemlock_self.grant)); /* A, D */
}

static inline void pawl_hemlock_naive_release(pawl_hemlock_naive *l, pawl_hemlock_naive_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_post(mine, pawl_address(l)); /* B: publishes the critical section */
    pawl_wait_until_eq(mine, 0);      /* C */
}

PAWL_LOCK_FUNCTIONS(hemlock_naive, PAWL_HOW_OWNER)

/* Listing 3, `hemlock_overlap`: unlock leaves at once, the mailbox may stay full. */

typedef pawl_hemlock pawl_hemlock_overlap;
typedef pawl_no_ctx pawl_hemlock_overlap_ctx;
#define PAWL_MAILBOX_hemlock_overlap , &pawl_hemlock_self.overlap

static inline void pawl_hemlock_overlap_acquire(pawl_hemlock_overlap *l, pawl_hemlock_overlap_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.overlap;
    /* A thread that may leave its mailbox full must wait for it at its end. Registers that before it locks, because
     * pawl_thread_enter() may need this very lock. */
    if (PAWL_UNLIKELY(!pawl_hemlock_self.awaited))
        pawl_hemlock_self.awaited = pawl_thread_enter();
    /* Our mailbox may still hold this very lock from our last hand-off, and our next successor would believe it. */
    pawl_wait_while_eq_relaxed(mine, pawl_address(l));
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel); /* A, D */
    if (PAWL_LIKELY(before == 0))
        return;
    pawl_wait_until_eq((pawl_word *)before, pawl_address(l)); /* B: sees all the last owner wrote */
    pawl_post((pawl_word *)before, 0);                        /* C */
}

static inline bool pawl_hemlock_overlap_try_acquire(pawl_hemlock_overlap *l, pawl_hemlock_overlap_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.overlap;
    if (atomic_load_explicit(mine, memory_order_relaxed) == pawl_address(l))
        return false; /* our successor has not taken it yet: the lock is held */
    return pawl_cas_acq_rel(&l->tail, 0, pawl_address(mine)); /* A, D */
}

static inline void pawl_hemlock_overlap_release(pawl_hemlock_overlap *l, pawl_hemlock_overlap_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.overlap;
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_wait_until_eq_relaxed(mine, 0);
    pawl_post(mine, pawl_address(l)); /* B: publishes the critical section */
    if (PAWL_UNLIKELY(!pawl_hemlock_self.awaited))
        pawl_wait_until_eq(mine, 0); /* C: nothing will wait at the thread's end */
}

PAWL_LOCK_FUNCTIONS(hemlock_overlap, PAWL_HOW_OWNER)

/* Listing 4, `hemlock_ah`: hands off first, then asks whether anybody is there. */

typedef pawl_hemlock pawl_hemlock_ah;
typedef pawl_no_ctx pawl_hemlock_ah_ctx;

static inline void pawl_hemlock_ah_acquire(pawl_hemlock_ah *l, pawl_hemlock_ah_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    /* D: releases our empty mailbox; it held this lock's address during our last unlock */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel); /* A, D */
    if (PAWL_UNLIKELY(before != 0))
        pawl_wait_cas((pawl_word *)before, pawl_address(l), 0); /* B: sees all the last owner wrote; C */
}

static inline bool pawl_hemlock_ah_try_acquire(pawl_hemlock_ah *l, pawl_hemlock_ah_ctx *c)
{
    return pawl_hemlock_naive_try_acquire(l, c); /* A, D */
}

static inline void pawl_hemlock_ah_release(pawl_hemlock_ah *l, pawl_hemlock_ah_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    pawl_post(mine, pawl_address(l)); /* B: publishes the critical section */
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) { /* A */
        atomic_store_explicit(mine, 0, memory_order_relaxed);
        return;
    }
    pawl_wait_rmw_until_eq(mine, 0); /* C */
}

PAWL_LOCK_FUNCTIONS(hemlock_ah, PAWL_HOW_OWNER)

/* Listing 5, `hemlock_oh1`: a successor announces itself in the mailbox, so that unlock need not look at
 * the lock. An announcement may be overwritten by the hand-off of another lock: it is only a hint. */

typedef pawl_hemlock pawl_hemlock_oh1;
typedef pawl_no_ctx pawl_hemlock_oh1_ctx;
#define PAWL_MAILBOX_hemlock_oh1 , &pawl_hemlock_self.flagged

static inline void pawl_hemlock_oh1_acquire(pawl_hemlock_oh1 *l, pawl_hemlock_oh1_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.flagged;
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel); /* A, D */
    if (PAWL_LIKELY(before == 0))
        return;
    pawl_cas_relaxed((pawl_word *)before, 0, pawl_address(l) | 1);
    pawl_wait_cas((pawl_word *)before, pawl_address(l), 0); /* B: sees all the last owner wrote; C */
}

static inline bool pawl_hemlock_oh1_try_acquire(pawl_hemlock_oh1 *l, pawl_hemlock_oh1_ctx *c)
{
    (void)c;
    return pawl_cas_acq_rel(&l->tail, 0, pawl_address(&pawl_hemlock_self.flagged)); /* A, D */
}

static inline void pawl_hemlock_oh1_release(pawl_hemlock_oh1 *l, pawl_hemlock_oh1_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.flagged;
    if (atomic_load_explicit(mine, memory_order_relaxed) != (pawl_address(l) | 1) &&
        PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_post(mine, pawl_address(l));              /* B: publishes the critical section */
    pawl_wait_rmw_while_eq(mine, pawl_address(l)); /* C; another lock's announcement may follow at once */
}

PAWL_LOCK_FUNCTIONS(hemlock_oh1, PAWL_HOW_OWNER)

/* Listing 6, `hemlock_oh2`: looks at the tail before it tries the CAS that contention makes futile. */

typedef pawl_hemlock pawl_hemlock_oh2;
typedef pawl_no_ctx pawl_hemlock_oh2_ctx;
#define PAWL_MAILBOX_hemlock_oh2 , &pawl_hemlock_self.grant

static inline void pawl_hemlock_oh2_acquire(pawl_hemlock_oh2 *l, pawl_hemlock_oh2_ctx *c)
{
    pawl_hemlock_acquire(l, c); /* A, B, C, D */
}

static inline bool pawl_hemlock_oh2_try_acquire(pawl_hemlock_oh2 *l, pawl_hemlock_oh2_ctx *c)
{
    return pawl_hemlock_try_acquire(l, c); /* A, D */
}

static inline void pawl_hemlock_oh2_release(pawl_hemlock_oh2 *l, pawl_hemlock_oh2_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    if (atomic_load_explicit(&l->tail, memory_order_relaxed) == pawl_address(mine) &&
        PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_post(mine, pawl_address(l)); /* B: publishes the critical section */
    pawl_wait_rmw_until_eq(mine, 0);  /* C */
}

PAWL_LOCK_FUNCTIONS(hemlock_oh2, PAWL_HOW_OWNER)
