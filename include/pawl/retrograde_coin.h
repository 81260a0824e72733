/* retrograde_coin.h - retrograde ticket lock that now and then serves the far end (Dice & Kogan, PPoPP 2025,
 * section E.1), with global and with TWA waiting
 *
 * Admission   shuffled segments: those that arrive while a segment is served form the next one; within a segment
 *             mostly the latest arrival enters first, sometimes the earliest
 * Bypass      once at most by each later arrival: nobody leaves its segment
 * Space       6 words per lock, 1 per thread: its coin; `retrograde_twa` uses the array of slots.h
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     global: every waiter watches `grant`; `retrograde_twa`: semi-private, every waiter watches the slot
 *             of its own ticket
 * Sharing     by threads of one process
 * Differs     the section describes both in prose. The countdown is drawn anew, between 1 and
 *             PAWL_COIN_MOST, each time it has run out
 *
 *   next == grant   unlocked
 *   [low, high)     the rest of the segment
 *   end             beyond the last ticket that was ever in a segment
 *
 * All but `next` belong to the owner, who is the only one to write `grant`.
 */
#pragma once

#include "detail/base.h"
#include "detail/random.h"
#include "detail/slots.h"

#ifndef PAWL_COIN_MOST
#define PAWL_COIN_MOST 16
#endif

typedef struct pawl_retrograde_coin {
    pawl_word next;  /* ticket of the next arrival */
    pawl_word grant; /* ticket that may enter      */
    uint64_t low;
    uint64_t high;
    uint64_t end;
    uint64_t countdown; /* hand-offs until the far end is served */
} pawl_retrograde_coin;

typedef pawl_no_ctx pawl_retrograde_coin_ctx;

/* The ticket to enter next. */
static inline uint64_t pawl_coin_choose(pawl_retrograde_coin *l)
{
    if (l->low == l->high) {
        uint64_t grant = atomic_load_explicit(&l->grant, memory_order_relaxed); /* our own ticket */
        uint64_t next = atomic_load_explicit(&l->next, memory_order_relaxed);
        uint64_t first = l->end > grant ? l->end : grant + 1;
        l->end = next;
        if (PAWL_LIKELY(first == next))
            return next; /* nobody came: unlocked */
        l->low = first;
        l->high = next;
    }
    if (l->countdown-- > 1)
        return --l->high;
    l->countdown = 1 + (uint32_t)(pawl_random() >> 32) % PAWL_COIN_MOST;
    return l->low++;
}

static inline void pawl_retrograde_coin_acquire(pawl_retrograde_coin *l, pawl_retrograde_coin_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    pawl_wait_until_eq(&l->grant, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_retrograde_coin_try_acquire(pawl_retrograde_coin *l, pawl_retrograde_coin_ctx *c)
{
    (void)c;
    uint64_t grant = atomic_load_explicit(&l->grant, memory_order_acquire); /* A */
    return pawl_cas_relaxed(&l->next, grant, grant + 1);
}

static inline void pawl_retrograde_coin_release(pawl_retrograde_coin *l, pawl_retrograde_coin_ctx *c)
{
    (void)c;
    pawl_post(&l->grant, pawl_coin_choose(l)); /* A: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(retrograde_coin, PAWL_HOW_OBLIVIOUS)

typedef pawl_retrograde_coin pawl_retrograde_twa;
typedef pawl_no_ctx pawl_retrograde_twa_ctx;

static inline void pawl_retrograde_twa_acquire(pawl_retrograde_twa *l, pawl_retrograde_twa_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    if (PAWL_LIKELY(atomic_load_explicit(&l->grant, memory_order_acquire) == mine)) /* A */
        return;
    pawl_word *slot = pawl_twa_slot_of(l, mine);
    for (;;) {
        /* B: the slot first, `grant` second; unlock writes them the other way round */
        uint64_t count = atomic_load_explicit(slot, memory_order_acquire);
        if (atomic_load_explicit(&l->grant, memory_order_acquire) == mine) /* A */
            return;
        pawl_wait_while_eq_relaxed(slot, count);
    }
}

static inline bool pawl_retrograde_twa_try_acquire(pawl_retrograde_twa *l, pawl_retrograde_twa_ctx *c)
{
    return pawl_retrograde_coin_try_acquire(l, c); /* A */
}

static inline void pawl_retrograde_twa_release(pawl_retrograde_twa *l, pawl_retrograde_twa_ctx *c)
{
    (void)c;
    uint64_t grant = pawl_coin_choose(l);
    pawl_word *slot = pawl_twa_slot_of(l, grant);
    pawl_post(&l->grant, grant); /* A: publishes the critical section */
    pawl_post_count(slot);       /* B */
}

PAWL_LOCK_FUNCTIONS(retrograde_twa, PAWL_HOW_OBLIVIOUS)
