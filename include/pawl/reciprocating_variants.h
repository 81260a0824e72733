/* reciprocating_variants.h - Reciprocating locks without an end marker in unlock (Dice & Kogan, PPoPP 2025,
 * listings 2, 3, 4, 5)
 *
 * Admission   segments: those that arrive while a segment is served form the next one; within a segment the
 *             latest arrival enters first
 * Bypass      once at most by each later arrival
 * Space       1 word per lock, 1 per thread: its element; `reciprocating_simple`, `reciprocating_swap`: 2 per
 *             thread
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     local: each waiter watches its own element
 * Sharing     by threads of one process
 * Differs     the encoding of the fetch-and-add forms: as printed, the lock starts from 2
 *
 * An arrival that finds the lock unlocked takes its element off the stack at once, with a second atomic. If
 * others arrived between the two, they become a segment at whose far end the element is buried, and
 *
 *   relay, fetchadd   the arrival hands the lock to the head of that segment and waits its turn in it
 *   simple, swap      the arrival keeps the lock, and its address travels along the segment as the end marker
 *
 *                     `arrivals` of relay and swap         of fetchadd and simple (E a multiple of 4)
 *   unlocked          0                                    0 or E+3
 *   held, none came   1                                    E+2: E is no longer on the stack
 *   held              E, the latest arrival                E+1, the latest arrival
 */
#pragma once

#include "reciprocating.h"

typedef struct pawl_successor_ctx {
    uint64_t next; /* the element to enter after this owner, or 0 */
} pawl_successor_ctx;

static inline void pawl_element_wait(pawl_element *mine)
{
    pawl_wait_while_eq(&mine->gate, 0); /* C: sees all the last owner wrote */
}

static inline void pawl_element_pass(uint64_t element)
{
    pawl_post(&((pawl_element *)element)->gate, 1); /* C: publishes the critical section */
}

/* Waits. If the end marker came along (rare: only at the onset of contention), ends the segment there or passes the
 * marker on. Returns who enters after us. */
static inline uint64_t pawl_element_wait_marked(pawl_element *mine, uint64_t next)
{
    pawl_element_wait(mine);
    uint64_t end = atomic_load_explicit(&mine->next, memory_order_relaxed); /* written before our gate: C */
    if (PAWL_LIKELY(end == 0))
        return next;
    if (end == next || next == 0)
        return 0;
    atomic_store_explicit(&((pawl_element *)next)->next, end, memory_order_relaxed); /* before its gate: C */
    return next;
}

/* Listings 2 and 5: two exchanges. They differ only in how they resolve a race. */

typedef pawl_reciprocating pawl_reciprocating_relay;
typedef pawl_successor_ctx pawl_reciprocating_relay_ctx;

/* Pushes `mine`. Returns what was there, or 0 if the lock was free and is ours; then `*race` is 0, or the
 * head of the segment at whose far end `mine` is buried. */
static inline uint64_t pawl_reciprocating_arrive(pawl_reciprocating *l, pawl_element *mine, uint64_t *race)
{
    /* B: publishes the zero in our gate. The second exchange acquires, and reads the first or a later one. A: the
     * critical section of the last owner; B: the gates of those that came in between. */
    uint64_t below = atomic_exchange_explicit(&l->arrivals, pawl_address(mine), memory_order_release);
    if (PAWL_UNLIKELY(below != 0))
        return below;
    uint64_t head = atomic_exchange_explicit(&l->arrivals, PAWL_RECIPROCATING_EMPTY, memory_order_acquire);
    *race = PAWL_LIKELY(head == pawl_address(mine)) ? 0 : head;
    return 0;
}

static inline void pawl_reciprocating_relay_acquire(pawl_reciprocating_relay *l,
                                                    pawl_reciprocating_relay_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t race = 0;
    uint64_t below = pawl_reciprocating_arrive(l, mine, &race);
    c->next = below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
    if (PAWL_LIKELY(below == 0)) {
        if (PAWL_LIKELY(race == 0))
            return;
        pawl_element_pass(race);
    }
    pawl_element_wait(mine);
}

static inline bool pawl_reciprocating_relay_try_acquire(pawl_reciprocating_relay *l,
                                                        pawl_reciprocating_relay_ctx *c)
{
    c->next = 0;
    return pawl_cas_acquire(&l->arrivals, 0, PAWL_RECIPROCATING_EMPTY); /* A */
}

static inline void pawl_reciprocating_relay_release(pawl_reciprocating_relay *l,
                                                    pawl_reciprocating_relay_ctx *c)
{
    uint64_t next = c->next;
    if (next == 0) {
        if (PAWL_LIKELY(pawl_cas_release(&l->arrivals, PAWL_RECIPROCATING_EMPTY, 0))) /* A */
            return;
        next = atomic_exchange_explicit(&l->arrivals, PAWL_RECIPROCATING_EMPTY, memory_order_acquire); /* B */
    }
    pawl_element_pass(next);
}

PAWL_LOCK_FUNCTIONS(reciprocating_relay, PAWL_HOW_OBLIVIOUS)

typedef pawl_reciprocating pawl_reciprocating_swap;
typedef pawl_successor_ctx pawl_reciprocating_swap_ctx;

static inline void pawl_reciprocating_swap_acquire(pawl_reciprocating_swap *l, pawl_reciprocating_swap_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    uint64_t race = 0;
    uint64_t below = pawl_reciprocating_arrive(l, mine, &race);
    if (PAWL_UNLIKELY(below != 0)) {
        c->next = pawl_element_wait_marked(mine, below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY);
        return;
    }
    c->next = race;
    if (PAWL_UNLIKELY(race != 0))
        atomic_store_explicit(&((pawl_element *)race)->next, pawl_address(mine), memory_order_relaxed);
}

static inline bool pawl_reciprocating_swap_try_acquire(pawl_reciprocating_swap *l,
                                                       pawl_reciprocating_swap_ctx *c)
{
    return pawl_reciprocating_relay_try_acquire(l, c); /* A */
}

static inline void pawl_reciprocating_swap_release(pawl_reciprocating_swap *l, pawl_reciprocating_swap_ctx *c)
{
    pawl_reciprocating_relay_release(l, c); /* A, B, C */
}

PAWL_LOCK_FUNCTIONS(reciprocating_swap, PAWL_HOW_OBLIVIOUS)

/* Listings 3 and 4: an exchange and a fetch-and-add that moves the low bits on, to E+2 and then E+3. */

typedef pawl_reciprocating pawl_reciprocating_fetchadd;
typedef pawl_successor_ctx pawl_reciprocating_fetchadd_ctx;

static inline bool pawl_fetchadd_unlocked(uint64_t arrivals)
{
    return ((arrivals + 1) & 2) == 0;
}

/* The element that `arrivals` stands for, or 0 if it is no longer on the stack. */
static inline uint64_t pawl_fetchadd_element(uint64_t arrivals)
{
    return arrivals & 1 ? arrivals - 1 : 0;
}

/* Like pawl_reciprocating_arrive(). True if the lock is ours: `*next` is 0, or the head of a segment that raced us.
 * False if we must wait: `*next` is the element below ours, or 0. */
static inline bool pawl_fetchadd_arrive(pawl_reciprocating *l, pawl_element *mine, uint64_t *next)
{
    /* A, B: as in pawl_reciprocating_arrive() */
    uint64_t below = atomic_exchange_explicit(&l->arrivals, pawl_address(mine) + 1, memory_order_release);
    if (PAWL_UNLIKELY(!pawl_fetchadd_unlocked(below))) {
        *next = pawl_fetchadd_element(below);
        return false;
    }
    uint64_t head = atomic_fetch_add_explicit(&l->arrivals, 1, memory_order_acquire) - 1;
    *next = PAWL_LIKELY(head == pawl_address(mine)) ? 0 : head;
    return true;
}

static inline void pawl_reciprocating_fetchadd_acquire(pawl_reciprocating_fetchadd *l,
                                                       pawl_reciprocating_fetchadd_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t next;
    if (PAWL_LIKELY(pawl_fetchadd_arrive(l, mine, &next))) {
        c->next = 0;
        if (PAWL_LIKELY(next == 0))
            return;
        pawl_element_pass(next);
    } else {
        c->next = next;
    }
    pawl_element_wait(mine);
}

static inline bool pawl_reciprocating_fetchadd_try_acquire(pawl_reciprocating_fetchadd *l,
                                                           pawl_reciprocating_fetchadd_ctx *c)
{
    c->next = 0;
    uint64_t arrivals = atomic_load_explicit(&l->arrivals, memory_order_relaxed);
    return pawl_fetchadd_unlocked(arrivals) &&
           pawl_cas_acquire(&l->arrivals, arrivals, (arrivals & ~(uint64_t)3) + 2); /* A */
}

static inline void pawl_reciprocating_fetchadd_release(pawl_reciprocating_fetchadd *l,
                                                       pawl_reciprocating_fetchadd_ctx *c)
{
    uint64_t next = c->next;
    if (next == 0) {
        /* A: publishes the critical section if this leaves the lock unlocked; B: acquires the gates if it
         * detaches a segment */
        next = pawl_fetchadd_element(atomic_fetch_add_explicit(&l->arrivals, 1, memory_order_acq_rel));
        if (PAWL_LIKELY(next == 0))
            return;
    }
    pawl_element_pass(next);
}

PAWL_LOCK_FUNCTIONS(reciprocating_fetchadd, PAWL_HOW_OBLIVIOUS)

typedef pawl_reciprocating pawl_reciprocating_simple;
typedef pawl_successor_ctx pawl_reciprocating_simple_ctx;

static inline void pawl_reciprocating_simple_acquire(pawl_reciprocating_simple *l,
                                                     pawl_reciprocating_simple_ctx *c)
{
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    uint64_t next;
    if (PAWL_UNLIKELY(!pawl_fetchadd_arrive(l, mine, &next))) {
        c->next = pawl_element_wait_marked(mine, next);
        return;
    }
    c->next = next;
    if (PAWL_UNLIKELY(next != 0))
        atomic_store_explicit(&((pawl_element *)next)->next, pawl_address(mine), memory_order_relaxed);
}

static inline bool pawl_reciprocating_simple_try_acquire(pawl_reciprocating_simple *l,
                                                         pawl_reciprocating_simple_ctx *c)
{
    return pawl_reciprocating_fetchadd_try_acquire(l, c); /* A */
}

static inline void pawl_reciprocating_simple_release(pawl_reciprocating_simple *l,
                                                     pawl_reciprocating_simple_ctx *c)
{
    pawl_reciprocating_fetchadd_release(l, c); /* A, B, C */
}

PAWL_LOCK_FUNCTIONS(reciprocating_simple, PAWL_HOW_OBLIVIOUS)
