/* twa_hapax.h - ticket lock with a waiting array of hapaxes (TWA, Dice & Kogan, Euro-Par 2019; Hapax, appendix C)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, 1 per thread; the array of slots.h is shared by all locks
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off (the slot is
 *             computed from the lock's address alone)
 * Waiting     semi-private: all but the next in line watch a slot of the array, the next one `serving`
 * Sharing     by threads of one process
 * Differs     from twa.h: unlock stores a new hapax to the slot, where TWA counts there, and saves an atomic
 *             read-modify-write. But a store may bury another unlock's without ordering it, as in hapax.h: so a waiter
 *             rechecks `serving` after every PAWL_HAPAX_RECHECK looks at the slot
 */
#pragma once

#include "hapax.h"
#include "twa.h"

typedef pawl_twa pawl_twa_hapax;
typedef pawl_no_ctx pawl_twa_hapax_ctx;

/* Hapaxes only: a counter in the same slot could reach the value of one. */
static inline pawl_word *pawl_twa_hapax_slot(const pawl_twa_hapax *l, uint64_t ticket)
{
    return &pawl_slots[pawl_twa_slot_of(l, ticket) - pawl_twa_slots].notify;
}

/* Waits in the array until `mine` is served or next in line. */
PAWL_SLOW_PATH void pawl_twa_hapax_wait_far(pawl_twa_hapax *l, uint64_t mine)
{
    pawl_word *slot = pawl_twa_hapax_slot(l, mine);
    uint64_t seen, before = 0;
    pawl_waiter me = PAWL_WAITER;
    for (unsigned look = 0;; look++) {
        /* B: the slot first, `serving` second; unlock writes them the other way round. Else a call is missed until the
         * next recheck. */
        seen = atomic_load_explicit(slot, memory_order_acquire);
        if (seen != before || look % PAWL_HAPAX_RECHECK == 0 || me.state != PAWL_LOOKING)
            if (mine - atomic_load_explicit(&l->serving, memory_order_relaxed) <= 1)
                break;
        before = seen;
        pawl_relax(&me, slot, seen, PAWL_ANY);
    }
    pawl_wait_end(&me, slot);
}

static inline void pawl_twa_hapax_acquire(pawl_twa_hapax *l, pawl_twa_hapax_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    uint64_t ahead = mine - atomic_load_explicit(&l->serving, memory_order_acquire); /* A */
    if (PAWL_LIKELY(ahead == 0))
        return;
    if (ahead > 1)
        pawl_twa_hapax_wait_far(l, mine);
    pawl_wait_until_eq(&l->serving, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_twa_hapax_try_acquire(pawl_twa_hapax *l, pawl_twa_hapax_ctx *c)
{
    return pawl_twa_try_acquire(l, c); /* A */
}

static inline void pawl_twa_hapax_release(pawl_twa_hapax *l, pawl_twa_hapax_ctx *c)
{
    (void)c;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_relaxed) + 1;
    pawl_word *slot = pawl_twa_hapax_slot(l, serving + 1); /* of the one that becomes next in line */
    uint64_t hapax = pawl_hapax_next();
    pawl_post(&l->serving, serving); /* A: publishes the critical section */
    pawl_post(slot, hapax);          /* B: after `serving`                */
}

PAWL_LOCK_FUNCTIONS(twa_hapax, PAWL_HOW_OBLIVIOUS)
