/* semaphore.h - TWA semaphore (Dice & Kogan, Capacitors, listing 2)
 *
 * Admission   FIFO: permits go to takers in the order of arrival, and each taker is called before its permit is
 *             granted
 * Bypass      0; but a taker that sleeps is woken after the grant: if its poster stops in between, later takers may
 *             return first, until the next post is complete. A taker with a deadline has no place in line: it gets
 *             what those in line leave
 * Space       2 words per semaphore, none per thread; the array of slots.h is shared by all
 * Post        constant time, and once more for each post that came in between; does not touch the semaphore after the
 *             (last) grant
 * Waiting     semi-private: all but the next in line watch a slot of the array, the next one `grant`
 * Sharing     by threads of one process
 * Differs     post always pokes a slot: the listing's "does anybody wait?" reads the semaphore after it may be gone,
 *             and needs seq_cst throughout. It pokes the taker before the grant, not the next in line after it: see
 *             pawl_semaphore_release()
 *
 *   grant - ticket   permits left, or minus the number of waiters
 *
 * All-zero is a semaphore without permits. A capacitor starts with some: `more` of them count as given already.
 */
#pragma once

#include "detail/base.h"
#include "detail/slots.h"

typedef struct pawl_semaphore {
    pawl_word ticket; /* permits asked for */
    pawl_word grant;  /* permits given     */
} pawl_semaphore;

static inline void pawl_semaphore_init(pawl_semaphore *s, uint32_t permits)
{
    atomic_store_explicit(&s->ticket, 0, memory_order_relaxed);
    atomic_store_explicit(&s->grant, permits, memory_order_relaxed);
}

/* Waits until `grant` has passed `mine`: on a slot until it is next in line, then on `grant`. */
PAWL_SLOW_PATH void pawl_semaphore_wait(pawl_semaphore *s, uint64_t mine)
{
    pawl_word *slot = pawl_twa_slot_of(s, mine);
    for (;;) {
        /* B: the slot first, `grant` second; post looks at `grant` and then writes the slot */
        uint64_t count = atomic_load_explicit(slot, memory_order_acquire);
        if ((int64_t)(mine - atomic_load_explicit(&s->grant, memory_order_relaxed)) <= 0)
            break;
        pawl_wait_while_eq_relaxed(slot, count);
    }
    pawl_wait_until_past(&s->grant, mine); /* A: sees what was done before the post */
}

static inline void pawl_semaphore_acquire(pawl_semaphore *s, uint64_t more)
{
    uint64_t mine = atomic_fetch_add_explicit(&s->ticket, 1, memory_order_relaxed) - more;
    if (PAWL_UNLIKELY((int64_t)(atomic_load_explicit(&s->grant, memory_order_acquire) - mine) <= 0)) /* A */
        pawl_semaphore_wait(s, mine);
}

static inline bool pawl_semaphore_try_acquire(pawl_semaphore *s, uint64_t more)
{
    uint64_t ticket = atomic_load_explicit(&s->ticket, memory_order_relaxed);
    while ((int64_t)(atomic_load_explicit(&s->grant, memory_order_acquire) + more - ticket) > 0) /* A */
        if (atomic_compare_exchange_weak_explicit(&s->ticket, &ticket, ticket + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Pokes the taker before it grants the permit. The listing pokes the next in line after the grant: a poster that
 * stops in between would leave that one in its slot while others post, and let later ones in. */
static inline void pawl_semaphore_release(pawl_semaphore *s)
{
    uint64_t grant = atomic_load_explicit(&s->grant, memory_order_relaxed);
    do /* B: whoever sees this count also sees this `grant`, and is next in line */
        pawl_post_count(pawl_twa_slot_of(s, grant));
    while (!atomic_compare_exchange_weak_explicit(&s->grant, &grant, grant + 1, memory_order_release,
                                                  memory_order_relaxed)); /* A */
    pawl_wake(&s->grant, grant + 1); /* the semaphore may be gone by now; its address is all we need */
}

/* Takes a permit, waiting for one if need be. */
PAWL_HOOK void pawl_semaphore_take(pawl_semaphore *s)
{
    pawl_hook_quiet();
    pawl_semaphore_acquire(s, 0);
    pawl_hook_loud();
    pawl_hook_received(s);
}

/* Takes a permit if there is one. */
PAWL_HOOK bool pawl_semaphore_trytake(pawl_semaphore *s)
{
    pawl_hook_quiet();
    bool taken = pawl_semaphore_try_acquire(s, 0);
    pawl_hook_loud();
    pawl_hook_received(s);
    return taken;
}

#ifndef PAWL_FREESTANDING
/* Takes a permit that nobody in line wants, or waits for one until the deadline: a ticket can't be given back. 0;
 * ETIMEDOUT when the deadline has passed on that clock (CLOCK_MONOTONIC or CLOCK_REALTIME); EINVAL if the clock is
 * another, or the deadline invalid. */
PAWL_HOOK int pawl_semaphore_clocktake(pawl_semaphore *s, int clock, const struct timespec *deadline)
{
    pawl_hook_quiet();
    int result =
        PAWL_LIKELY(pawl_semaphore_try_acquire(s, 0)) ? 0 : pawl_semaphore_take_until(s, clock, deadline);
    pawl_hook_loud();
    if (result == 0)
        pawl_hook_received(s);
    return result;
}

/* The same with CLOCK_REALTIME, like sem_timedwait(). */
PAWL_HOOK int pawl_semaphore_timedtake(pawl_semaphore *s, const struct timespec *deadline)
{
    return pawl_semaphore_clocktake(s, 0, deadline);
}
#endif

/* Gives `n` permits, one after the other: one grant for all would admit takers before they are called. */
PAWL_HOOK void pawl_semaphore_post_n(pawl_semaphore *s, uint32_t n)
{
    pawl_hook_sending(s);
    pawl_hook_quiet();
    while (n-- > 0)
        pawl_semaphore_release(s);
    pawl_hook_loud();
}

/* Gives a permit. */
PAWL_HOOK void pawl_semaphore_post(pawl_semaphore *s)
{
    pawl_semaphore_post_n(s, 1);
}
