/* semaphore.h - TWA semaphore (Dice & Kogan, Capacitors, listing 2)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       2 words per semaphore, none per thread; the array of slots.h is shared by all
 * Post        constant time; does not touch the semaphore once the permits are there
 * Waiting     semi-private: all but the next in line watch a slot of the array, the next one `grant`
 * Differs     post is the listing's conservative one: its "does anybody wait?" reads the semaphore after it
 *             may be gone, and needs seq_cst throughout. post_n adds all permits at once
 *
 *   grant - ticket   permits left, or minus the number of waiters
 *
 * All-zero is a semaphore without permits. A capacitor counts from its own number of permits: the
 * functions with `_plus` take `more` permits as given.
 */
#pragma once

#include "base.h"
#include "slots.h"

typedef struct pawl_semaphore {
    pawl_word ticket; /* permits asked for */
    pawl_word grant;  /* permits given     */
} pawl_semaphore;

static inline void pawl_semaphore_init(pawl_semaphore *s, uint32_t permits)
{
    atomic_store_explicit(&s->ticket, 0, memory_order_relaxed);
    atomic_store_explicit(&s->grant, permits, memory_order_relaxed);
}

/* Waits until `grant` has passed `mine`: in the array until it is next in line, then at `grant`. */
PAWL_SLOW_PATH void pawl_semaphore_wait(pawl_semaphore *s, uint64_t mine)
{
    pawl_word *slot = pawl_twa_slot_of(s, mine);
    for (;;) {
        /* B: the slot first, `grant` second; post writes them the other way round */
        uint64_t count = atomic_load_explicit(slot, memory_order_acquire);
        if ((int64_t)(mine - atomic_load_explicit(&s->grant, memory_order_relaxed)) <= 0)
            break;
        pawl_wait_while_eq_relaxed(slot, count);
    }
    pawl_wait_until_past(&s->grant, mine); /* A: sees what was done before the post */
}

static inline void pawl_semaphore_take_plus(pawl_semaphore *s, uint64_t more)
{
    uint64_t mine = atomic_fetch_add_explicit(&s->ticket, 1, memory_order_relaxed) - more;
    if (PAWL_UNLIKELY((int64_t)(atomic_load_explicit(&s->grant, memory_order_acquire) - mine) <= 0)) /* A */
        pawl_semaphore_wait(s, mine);
}

static inline bool pawl_semaphore_trytake_plus(pawl_semaphore *s, uint64_t more)
{
    uint64_t ticket = atomic_load_explicit(&s->ticket, memory_order_relaxed);
    while ((int64_t)(atomic_load_explicit(&s->grant, memory_order_acquire) + more - ticket) > 0) /* A */
        if (atomic_compare_exchange_weak_explicit(&s->ticket, &ticket, ticket + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Takes a permit, waiting for one if need be. */
static inline void pawl_semaphore_take(pawl_semaphore *s)
{
    pawl_semaphore_take_plus(s, 0);
}

/* Takes a permit if there is one. */
static inline bool pawl_semaphore_trytake(pawl_semaphore *s)
{
    return pawl_semaphore_trytake_plus(s, 0);
}

/* Gives `n` permits. */
static inline void pawl_semaphore_post_n(pawl_semaphore *s, uint32_t n)
{
    uint64_t grant = pawl_post_add(&s->grant, n); /* A */
    /* The holder of ticket `grant` watches `grant` itself; those up to grant + n - 1 may enter, and
     * grant + n becomes next in line. The semaphore may be gone by now; its address is all we need. */
    uint32_t pokes = n < PAWL_SLOTS ? n : PAWL_SLOTS; /* more would visit slots a second time */
    for (uint32_t i = 0; i < pokes; i++)
        pawl_post_count(pawl_twa_slot_of(s, grant + n - i)); /* B */
}

static inline void pawl_semaphore_post(pawl_semaphore *s)
{
    pawl_semaphore_post_n(s, 1);
}
