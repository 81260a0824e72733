/* ticket.h - ticket lock (Mellor-Crummey & Scott 1991; baseline in all four papers)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per lock, none per thread
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     global: every waiter watches `serving`, so each hand-off costs one miss per waiter
 * Sharing     by threads of one process
 * Differs     64-bit counters, so that trylock cannot be fooled by wrap-around
 *
 *   next == serving   unlocked
 *   next  > serving   held; next - serving - 1 threads wait
 */
#pragma once

#include "detail/base.h"

typedef struct pawl_ticket {
    pawl_word next;    /* ticket of the next arrival */
    pawl_word serving; /* ticket that may enter      */
} pawl_ticket;

typedef pawl_no_ctx pawl_ticket_ctx;

static inline void pawl_ticket_acquire(pawl_ticket *l, pawl_ticket_ctx *c)
{
    (void)c;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    pawl_wait_until_eq(&l->serving, mine); /* A: sees all the last owner wrote */
}

static inline bool pawl_ticket_try_acquire(pawl_ticket *l, pawl_ticket_ctx *c)
{
    (void)c;
    /* If `next` still equals a `serving` of any age, nobody has arrived since: the lock is free. */
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_acquire); /* A */
    return pawl_cas_relaxed(&l->next, serving, serving + 1);
}

static inline void pawl_ticket_release(pawl_ticket *l, pawl_ticket_ctx *c)
{
    (void)c;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_relaxed); /* only the owner writes it */
    pawl_post(&l->serving, serving + 1); /* A: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(ticket, PAWL_HOW_OBLIVIOUS)
