/* hapax.h - Hapax lock with invisible waiters (Dice & Kogan, PPoPP 2026, listings 2 and 6)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, 1 per thread; the array of slots.h is shared by all locks
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off (the slot is
 *             computed from the lock's address alone)
 * Waiting     semi-private: a waiter watches the slot of its predecessor's hapax
 * Sharing     by threads of one process
 * Differs     a waiter rechecks `depart` after every PAWL_HAPAX_RECHECK looks at the slot. As printed it watches the
 *             slot alone, and C11 lets it miss the hand-off for ever: another unlock's store to the slot may bury the
 *             one that announced `depart`, without ordering it. x86, AArch64 and RISC-V do not let that happen, POWER
 *             does
 *
 *   arrive == depart   unlocked
 *   slot == pred       hand-off seen without a look at the lock: a hapax never recurs
 */
#pragma once

#include "detail/base.h"
#include "detail/hapax_block.h"
#include "detail/slots.h"

/* Rare, because each recheck reads the lock itself; a machine that needs one needs it only after a collision. */
#ifndef PAWL_HAPAX_RECHECK
#define PAWL_HAPAX_RECHECK 1024
#endif

typedef struct pawl_hapax {
    pawl_word arrive; /* hapax of the latest arrival   */
    pawl_word depart; /* hapax of the latest departure */
} pawl_hapax;

typedef struct pawl_hapax_ctx {
    uint64_t hapax;
} pawl_hapax_ctx;

/* Waits until `pred` has departed. */
PAWL_SLOW_PATH void pawl_hapax_wait(pawl_word *depart, pawl_word *notify, uint64_t pred)
{
    uint64_t seen, before = 0;
    pawl_waiter me = PAWL_WAITER;
    for (unsigned look = 0;; look++) {
        /* B: the slot first, `depart` second; unlock writes them the other way round. */
        seen = atomic_load_explicit(notify, memory_order_acquire);
        if (seen == pred)
            break; /* A: expedited hand-off */
        if (seen != before || look % PAWL_HAPAX_RECHECK == 0 || me.state != PAWL_LOOKING)
            if (atomic_load_explicit(depart, memory_order_acquire) == pred)
                break; /* A */
        before = seen;
        pawl_relax(&me, notify, seen, PAWL_ANY);
    }
    pawl_wait_end(&me, notify);
}

static inline void pawl_hapax_acquire(pawl_hapax *l, pawl_hapax_ctx *c)
{
    uint64_t mine = c->hapax = pawl_hapax_next();
    /* Relaxed: hapaxes never recur, so an old `depart` cannot pass for the predecessor's. */
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    if (PAWL_LIKELY(atomic_load_explicit(&l->depart, memory_order_acquire) == pred)) /* A */
        return;
    pawl_hapax_wait(&l->depart, &pawl_slot_of(l, pred)->notify, pred);
}

static inline bool pawl_hapax_try_acquire(pawl_hapax *l, pawl_hapax_ctx *c)
{
    uint64_t last = atomic_load_explicit(&l->arrive, memory_order_relaxed);
    if (atomic_load_explicit(&l->depart, memory_order_acquire) != last) /* A */
        return false;
    c->hapax = pawl_hapax_next();
    return pawl_cas_relaxed(&l->arrive, last, c->hapax);
}

static inline void pawl_hapax_release(pawl_hapax *l, pawl_hapax_ctx *c)
{
    uint64_t mine = c->hapax;
    pawl_slot *slot = pawl_slot_of(l, mine);
    pawl_post(&l->depart, mine);    /* A: publishes the critical section */
    pawl_post(&slot->notify, mine); /* A, B: after `depart`, or a waiter could check `depart` too early */
}

PAWL_LOCK_FUNCTIONS(hapax, PAWL_HOW_OBLIVIOUS)
