/* clh.h - CLH queue lock with a standard interface (Craig 1993, Magnusson et al. 1994; Scott fig. 4.14)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, none per thread; a node per lock once used, that of its last owner; a node per
 *             waiter
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     local: each waiter watches its predecessor's node, which becomes its own afterwards
 * Sharing     by threads of one process
 * Differs     a lock gets its first node from its first owner, so that all-zero is unlocked. The node stays with the
 *             lock: pawl_clh_destroy() frees it, a lock abandoned without it keeps 128 bytes. pawl_clh_release_idle()
 *             leaves none in a lock that nobody waits for. It has a trylock: nodes circulate, and one that was seen
 *             free may be back and held, so `tail` says which use of its node it means
 *
 *   tail == 0      unlocked, never used or left idle
 *   tail->wait 0   unlocked
 *   tail->wait 1   held; tail is the node of the last arrival
 *
 *   tail           bits 0..47 the node's address; above, how often it was used
 */
#pragma once

#include "detail/base.h"
#include "detail/nodes.h"

typedef struct pawl_clh {
    pawl_word tail;
    pawl_node *owner; /* the owner's alone: the node that unlock releases */
} pawl_clh;

typedef pawl_no_ctx pawl_clh_ctx;

#define PAWL_CLH_ADDRESS (((uint64_t)1 << 48) - 1)

/* A name recurs after 2^16 uses. */
static inline uint64_t pawl_clh_name(pawl_node *n)
{
    return pawl_address(n) | (uint64_t)++n->uses << 48;
}

static inline pawl_node *pawl_clh_node(uint64_t tail)
{
    return (pawl_node *)(tail & PAWL_CLH_ADDRESS);
}

static inline void pawl_clh_acquire(pawl_clh *l, pawl_clh_ctx *c)
{
    (void)c;
    pawl_node *mine = pawl_node_get();
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    /* B: acquires the predecessor's wait == 1, and releases ours to the successor: nodes circulate, and a thread that
     * saw the zero of an earlier use would enter. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_clh_name(mine), memory_order_acq_rel);
    if (PAWL_LIKELY(before != 0)) {
        pawl_node *ahead = pawl_clh_node(before);
        pawl_wait_until_eq(&ahead->wait, 0); /* A: sees all the last owner wrote */
        pawl_node_put(ahead);
    }
    l->owner = mine;
}

static inline bool pawl_clh_try_acquire(pawl_clh *l, pawl_clh_ctx *c)
{
    (void)c;
    uint64_t before = atomic_load_explicit(&l->tail, memory_order_acquire); /* B */
    pawl_node *ahead = pawl_clh_node(before);
    if (before != 0 && atomic_load_explicit(&ahead->wait, memory_order_relaxed) != 0)
        return false;
    pawl_node *mine = pawl_node_get();
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    /* B: unchanged, so nobody came since; or, if it was 0, all that came have left, and are acquired */
    if (!pawl_cas_acq_rel(&l->tail, before, pawl_clh_name(mine))) {
        pawl_node_put(mine);
        return false;
    }
    if (PAWL_LIKELY(before != 0)) {
        pawl_wait_until_eq(&ahead->wait, 0); /* A: returns at once, unless the name has recurred */
        pawl_node_put(ahead);
    }
    l->owner = mine;
    return true;
}

static inline void pawl_clh_release(pawl_clh *l, pawl_clh_ctx *c)
{
    (void)c;
    pawl_post(&l->owner->wait, 0); /* A: publishes the critical section */
}

/* The same for one more atomic: if nobody waits, the lock is left as if it had never been used. */
static inline void pawl_clh_release_idle(pawl_clh *l, pawl_clh_ctx *c)
{
    pawl_node *mine = l->owner;
    uint64_t name = pawl_address(mine) | (uint64_t)mine->uses << 48;
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, name, 0))) /* B: publishes the critical section */
        pawl_node_put(mine);
    else
        pawl_clh_release(l, c);
}

PAWL_LOCK_FUNCTIONS(clh, PAWL_HOW_OBLIVIOUS)

/* For an unlocked lock that nobody will use again. */
PAWL_HOOK void pawl_clh_destroy(pawl_clh *l)
{
    pawl_hook_destroyed(l, "pawl_clh", pawl_clh_how);
    uint64_t last = atomic_exchange_explicit(&l->tail, 0, memory_order_relaxed);
    if (last != 0)
        pawl_node_put(pawl_clh_node(last));
}
