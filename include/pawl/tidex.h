/* tidex.h - Tidex (Ramalhete & Correia, PPoPP 2016; Hapax paper, listing 1)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, 2 bytes per thread, whose addresses serve as its identities
 * Unlock      by its owner, in constant time; does not touch the lock after the hand-off
 * Waiting     global: every waiter watches `depart`
 * Sharing     by threads of one process
 * Differs     the exchange is acq_rel: identities recur, and an arrival that saw an old `depart` could take it for
 *             its predecessor's and enter beside the owner. For the same reason there is no trylock. Only the owner
 *             may unlock: a thread that waits for a lock it gave away would arrive under an identity still in use
 *
 *   arrive == depart   unlocked
 */
#pragma once

#include "detail/base.h"

typedef struct pawl_tidex {
    pawl_word arrive; /* identity of the latest arrival   */
    pawl_word depart; /* identity of the latest departure */
} pawl_tidex;

typedef char pawl_tidex_identities[2]; /* two addresses that no other thread has */
PAWL_SLICE(tidex, pawl_tidex_identities, .child = PAWL_KEPT);

typedef struct pawl_tidex_ctx {
    uint64_t identity;
} pawl_tidex_ctx;

static inline void pawl_tidex_acquire(pawl_tidex *l, pawl_tidex_ctx *c)
{
    uint64_t mine = pawl_address(pawl_tidex_self);
    /* If this identity departed last, take the other one, or `arrive` would not change. */
    mine += atomic_load_explicit(&l->depart, memory_order_relaxed) == mine;
    uint64_t before = atomic_exchange_explicit(&l->arrive, mine, memory_order_acq_rel); /* B: see Differs */
    pawl_wait_until_eq(&l->depart, before); /* A: sees all the last owner wrote */
    c->identity = mine;
}

static inline void pawl_tidex_release(pawl_tidex *l, pawl_tidex_ctx *c)
{
    pawl_post(&l->depart, c->identity); /* A: publishes the critical section */
}

PAWL_LOCK_AND_UNLOCK(tidex, PAWL_HOW_OWNER)
