/* twa.h - ticket lock with a waiting array (Dice & Kogan, Euro-Par 2019; baseline of the Hapax paper)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, none per thread; the array of slots.h is shared by all locks
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off (the slot is
 *             computed from the lock's address alone)
 * Waiting     semi-private: all but the next in line watch a slot of the array, the next one `serving`
 * Sharing     by threads of one process
 * Differs     64-bit counters, so that trylock cannot be fooled by wrap-around
 */
#pragma once

#include "detail/base.h"
#include "detail/slots.h"

typedef struct pawl_twa {
    pawl_word next;    /* ticket of the next arrival */
    pawl_word serving; /* ticket that may enter      */
} pawl_twa;

typedef pawl_no_ctx pawl_twa_ctx;

/* Waits in the array until `mine` is served or next in line. */
PAWL_SLOW_PATH void pawl_twa_wait_far(pawl_twa *l, uint64_t mine)
{
    pawl_word *slot = pawl_twa_slot_of(l, mine);
    for (;;) {
        /* B: the slot first, `serving` second; unlock writes them the other way round. Whoever saw the
         * new count must see the new `serving`, or it would wait for a count that never comes. */
        uint64_t count = atomic_load_explicit(slot, memory_order_acquire);
        if (mine - atomic_load_explicit(&l->serving, memory_order_relaxed) <= 1)
            return;
        pawl_wait_while_eq_relaxed(slot, count);
    }
}

static inline void pawl_twa_acquire(pawl_twa *l, pawl_twa_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    uint64_t ahead = mine - atomic_load_explicit(&l->serving, memory_order_acquire); /* A */
    if (PAWL_LIKELY(ahead == 0))
        return;
    if (ahead > 1)
        pawl_twa_wait_far(l, mine);
    pawl_wait_until_eq(&l->serving, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_twa_try_acquire(pawl_twa *l, pawl_twa_ctx *c)
{
    (void)c;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_acquire); /* A */
    return pawl_cas_relaxed(&l->next, serving, serving + 1);
}

static inline void pawl_twa_release(pawl_twa *l, pawl_twa_ctx *c)
{
    (void)c;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_relaxed) + 1;
    pawl_word *slot = pawl_twa_slot_of(l, serving + 1); /* of the one that becomes next in line */
    pawl_post(&l->serving, serving);                    /* A: publishes the critical section    */
    pawl_post_count(slot);                              /* B: after `serving`                   */
}

PAWL_LOCK_FUNCTIONS(twa, PAWL_HOW_OBLIVIOUS)
