/* capacitors.h - the capacitors of the register (Dice & Kogan, Capacitors, listing 1, figure 1, section 5)
 *
 * Admission   platoons, see capacitor.h; `capacitor_fractional`: none
 * Bypass      B - 1; `capacitor_fractional`: unbounded, statistically fair in the long run;
 *             `capacitor_contended`: unbounded, B - 1 but for tickets just taken, see there
 * Space       3 words per lock, and the inner lock; per thread what that needs; `capacitor_fractional`: 1 per
 *             thread: its coin; `capacitor_multilane`: 67 words per lock, most of them to keep the lanes apart
 * Unlock      as the inner lock's; does not touch the lock after the hand-off
 * Waiting     semi-private for the platoon, then as the inner lock does; `capacitor_plain`: global;
 *             `capacitor_multilane`: global, per lane
 * Sharing     by threads of one process
 * Differs     see capacitor.h and each variant
 */
#pragma once

#include "capacitor.h"
#include "detail/random.h"
#include "lifo.h"
#include "mcs.h"
#include "reciprocating.h"
#include "ticket.h"
#include "tts.h"

PAWL_CAPACITOR(capacitor_tts, tts, PAWL_PLATOON)
PAWL_CAPACITOR_TRYLOCK(capacitor_tts, tts, PAWL_PLATOON)
PAWL_CAPACITOR(capacitor_ticket, ticket, PAWL_PLATOON)
PAWL_CAPACITOR_TRYLOCK(capacitor_ticket, ticket, PAWL_PLATOON)
PAWL_CAPACITOR(capacitor_mcs, mcs, PAWL_PLATOON)
PAWL_CAPACITOR(capacitor_lifo, lifo, PAWL_PLATOON)
PAWL_CAPACITOR_TRYLOCK(capacitor_lifo, lifo, PAWL_PLATOON)
PAWL_CAPACITOR(capacitor_reciprocating, reciprocating, PAWL_PLATOON)
PAWL_CAPACITOR_TRYLOCK(capacitor_reciprocating, reciprocating, PAWL_PLATOON)

/* Listing 1, `capacitor_plain`: tts inside, and everyone outside watches `grant`. */

typedef pawl_capacitor_tts pawl_capacitor_plain;
typedef pawl_no_ctx pawl_capacitor_plain_ctx;

static inline void pawl_capacitor_plain_acquire(pawl_capacitor_plain *l, pawl_capacitor_plain_ctx *c)
{
    uint64_t mine = atomic_fetch_add_explicit(&l->door.ticket, 1, memory_order_relaxed) - PAWL_PLATOON;
    pawl_wait_until_past(&l->door.grant, mine); /* P: orders the platoons */
    pawl_tts_acquire(&l->inner, c);
}

static inline bool pawl_capacitor_plain_try_acquire(pawl_capacitor_plain *l, pawl_capacitor_plain_ctx *c)
{
    return pawl_capacitor_tts_try_acquire(l, c);
}

static inline void pawl_capacitor_plain_release(pawl_capacitor_plain *l, pawl_capacitor_plain_ctx *c)
{
    uint64_t grant = atomic_load_explicit(&l->door.grant, memory_order_relaxed);
    if (PAWL_UNLIKELY(++l->departed == (uint16_t)(grant + PAWL_PLATOON)))
        pawl_post(&l->door.grant, grant + PAWL_PLATOON); /* P */
    pawl_tts_release(&l->inner, c);
}

PAWL_LOCK_FUNCTIONS(capacitor_plain, PAWL_HOW_OBLIVIOUS)

/* `capacitor_fractional`: all but one arrival in PAWL_FRACTION go straight to the inner lock. */

#ifndef PAWL_FRACTION
#define PAWL_FRACTION 100
#endif

typedef pawl_capacitor_tts pawl_capacitor_fractional;

typedef struct pawl_skip_ctx {
    bool skipped; /* the owner holds no ticket */
} pawl_skip_ctx;

typedef pawl_skip_ctx pawl_capacitor_fractional_ctx;

static inline void pawl_capacitor_fractional_acquire(pawl_capacitor_fractional *l,
                                                     pawl_capacitor_fractional_ctx *c)
{
    pawl_tts_ctx none;
    c->skipped = !pawl_one_in(PAWL_FRACTION);
    if (!c->skipped)
        pawl_semaphore_acquire(&l->door, PAWL_PLATOON);
    pawl_tts_acquire(&l->inner, &none);
}

static inline bool pawl_capacitor_fractional_try_acquire(pawl_capacitor_fractional *l,
                                                         pawl_capacitor_fractional_ctx *c)
{
    pawl_tts_ctx none;
    c->skipped = true;
    return pawl_tts_try_acquire(&l->inner, &none);
}

static inline void pawl_capacitor_skip_release(pawl_capacitor_tts *l, pawl_skip_ctx *c)
{
    pawl_tts_ctx none;
    if (!c->skipped)
        pawl_capacitor_depart(&l->door, &l->departed, PAWL_PLATOON);
    pawl_tts_release(&l->inner, &none);
}

static inline void pawl_capacitor_fractional_release(pawl_capacitor_fractional *l,
                                                     pawl_capacitor_fractional_ctx *c)
{
    pawl_capacitor_skip_release(l, c);
}

PAWL_LOCK_FUNCTIONS(capacitor_fractional, PAWL_HOW_OBLIVIOUS)

/* `capacitor_contended`: an arrival that finds the inner lock free, and nobody between door and exit, needs no
 * ticket. Every waiter has a ticket, so nobody is overtaken that way once its ticket is visible. C11 puts no limit on
 * how long that takes, so the register promises no bound. */

typedef pawl_capacitor_tts pawl_capacitor_contended;
typedef pawl_skip_ctx pawl_capacitor_contended_ctx;

static inline bool pawl_capacitor_contended_try_acquire(pawl_capacitor_contended *l,
                                                        pawl_capacitor_contended_ctx *c)
{
    pawl_tts_ctx none;
    if (!pawl_tts_try_acquire(&l->inner, &none))
        return false;
    c->skipped = true;
    if (PAWL_LIKELY((uint16_t)atomic_load_explicit(&l->door.ticket, memory_order_relaxed) == l->departed))
        return true;
    pawl_tts_release(&l->inner, &none);
    return false;
}

static inline void pawl_capacitor_contended_acquire(pawl_capacitor_contended *l,
                                                    pawl_capacitor_contended_ctx *c)
{
    if (PAWL_LIKELY(pawl_capacitor_contended_try_acquire(l, c)))
        return;
    pawl_tts_ctx none;
    c->skipped = false;
    pawl_semaphore_acquire(&l->door, PAWL_PLATOON);
    pawl_tts_acquire(&l->inner, &none);
}

static inline void pawl_capacitor_contended_release(pawl_capacitor_contended *l,
                                                    pawl_capacitor_contended_ctx *c)
{
    pawl_capacitor_skip_release(l, c);
}

PAWL_LOCK_FUNCTIONS(capacitor_contended, PAWL_HOW_OBLIVIOUS)

/* `capacitor_multilane`: one row of tickets, but each waiter watches the `grant` of its lane. Admitting a platoon
 * raises all of them alike, so platoons stay FIFO. */

#define PAWL_LANES 4

typedef struct pawl_capacitor_multilane {
    pawl_tts inner;
    pawl_word ticket;
    uint64_t departed; /* the owner's */
    struct pawl_lane { /* padded, not aligned: a lock may live wherever calloc puts it */
        char apart[PAWL_SECTOR - sizeof(pawl_word)];
        pawl_word grant;
    } lane[PAWL_LANES];
} pawl_capacitor_multilane;

typedef pawl_no_ctx pawl_capacitor_multilane_ctx;

static inline void pawl_capacitor_multilane_acquire(pawl_capacitor_multilane *l,
                                                    pawl_capacitor_multilane_ctx *c)
{
    uint64_t mine = atomic_fetch_add_explicit(&l->ticket, 1, memory_order_relaxed);
    pawl_wait_until_past(&l->lane[mine % PAWL_LANES].grant, mine - PAWL_PLATOON); /* P: orders the platoons */
    pawl_tts_acquire(&l->inner, c);
}

static inline bool pawl_capacitor_multilane_try_acquire(pawl_capacitor_multilane *l,
                                                        pawl_capacitor_multilane_ctx *c)
{
    if (!pawl_tts_try_acquire(&l->inner, c))
        return false;
    /* The owner of the inner lock is the only one to write a `grant`. */
    uint64_t limit = atomic_load_explicit(&l->lane[0].grant, memory_order_relaxed) + PAWL_PLATOON;
    uint64_t mine = atomic_load_explicit(&l->ticket, memory_order_relaxed);
    while (mine < limit)
        if (atomic_compare_exchange_weak_explicit(&l->ticket, &mine, mine + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    pawl_tts_release(&l->inner, c);
    return false;
}

static inline void pawl_capacitor_multilane_release(pawl_capacitor_multilane *l,
                                                    pawl_capacitor_multilane_ctx *c)
{
    uint64_t limit = atomic_load_explicit(&l->lane[0].grant, memory_order_relaxed) + PAWL_PLATOON;
    if (PAWL_UNLIKELY(++l->departed == limit))
        for (int i = 0; i < PAWL_LANES; i++)
            pawl_post(&l->lane[i].grant, limit); /* P */
    pawl_tts_release(&l->inner, c);
}

PAWL_LOCK_FUNCTIONS(capacitor_multilane, PAWL_HOW_OBLIVIOUS)
