/* wait.h - how a thread waits, and how it is woken
 *
 * A lock says what it waits for; this file alone decides how. Every wait names the word it watches and
 * every hand-over is a post to that word, so that a policy that sleeps can be added here without a lock
 * being touched. The policy is chosen at run time: PAWL_WAIT in the environment, or pawl_set_wait().
 *
 *   spin    pause for ever: what the papers measure; only for as many threads as there are CPUs
 *   yield   pause for a while, then give the CPU away between two looks (the default)
 *
 * Unless a name says `_relaxed`, a wait is an acquire and a post is a release.
 */
#pragma once

#include "atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_policy { PAWL_WAIT_SPIN, PAWL_WAIT_YIELD } pawl_policy;

/* False, and nothing changed, if the value is not a policy. Takes effect on waits already under way. */
bool pawl_set_wait(pawl_policy policy);
pawl_policy pawl_get_wait(void);

/* Between two looks, once the first PAWL_SPINS have passed: does what the policy says. */
void pawl_wait_turn(void);

#ifdef __cplusplus
}
#endif

/* Looks before a waiter consults the policy: about 2 us at the 140 cycles of a recent PAUSE, 70 ns at 4. */
#ifndef PAWL_SPINS
#define PAWL_SPINS 32
#endif

static inline void pawl_pause(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* YIELD is a no-op on most cores; ISB really slows the loop down */
#elif defined(__riscv)
    __asm__ volatile(".4byte 0x0100000f"); /* PAUSE of Zihintpause, a harmless FENCE elsewhere */
#endif
}

static inline void pawl_relax(unsigned *looks)
{
    pawl_pause();
    if (PAWL_UNLIKELY(++*looks >= PAWL_SPINS))
        pawl_wait_turn();
}

/* Waits while the word holds `v`; returns what it holds then. */
static inline uint64_t pawl_wait_while_eq(pawl_word *w, uint64_t v)
{
    uint64_t now;
    unsigned looks = 0;
    while ((now = atomic_load_explicit(w, memory_order_acquire)) == v)
        pawl_relax(&looks);
    return now;
}

static inline void pawl_wait_while_eq_relaxed(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while (atomic_load_explicit(w, memory_order_relaxed) == v)
        pawl_relax(&looks);
}

/* The same for at most so many looks; true if the word changed. */
static inline bool pawl_wait_while_eq_for(pawl_word *w, uint64_t v, unsigned most)
{
    unsigned looks = 0;
    for (; most > 0; most--) {
        if (atomic_load_explicit(w, memory_order_acquire) != v)
            return true;
        pawl_relax(&looks);
    }
    return false;
}

static inline void pawl_wait_while_eq_for_relaxed(pawl_word *w, uint64_t v, unsigned most)
{
    unsigned looks = 0;
    while (most-- > 0 && atomic_load_explicit(w, memory_order_relaxed) == v)
        pawl_relax(&looks);
}

static inline void pawl_wait_until_eq(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while (atomic_load_explicit(w, memory_order_acquire) != v)
        pawl_relax(&looks);
}

static inline void pawl_wait_until_eq_relaxed(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while (atomic_load_explicit(w, memory_order_relaxed) != v)
        pawl_relax(&looks);
}

/* Waits until a counter that only grows has passed `v`. */
static inline void pawl_wait_until_past(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while ((int64_t)(atomic_load_explicit(w, memory_order_acquire) - v) <= 0)
        pawl_relax(&looks);
}

/* Hemlock's coherence-friendly polling: the look is itself the write, so that the line arrives writable.
 * Acquires what came with `from`, and releases this thread's last look at the word to whoever sees `to`. */
static inline void pawl_wait_cas(pawl_word *w, uint64_t from, uint64_t to)
{
    unsigned looks = 0;
    uint64_t seen = from;
    while (
        !atomic_compare_exchange_strong_explicit(w, &seen, to, memory_order_acq_rel, memory_order_relaxed)) {
        seen = from;
        pawl_relax(&looks);
    }
}

/* The same for a wait that writes nothing itself but will write the word next time. */
static inline void pawl_wait_rmw_until_eq(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while (atomic_fetch_add_explicit(w, 0, memory_order_acquire) != v)
        pawl_relax(&looks);
}

static inline void pawl_wait_rmw_while_eq(pawl_word *w, uint64_t v)
{
    unsigned looks = 0;
    while (atomic_fetch_add_explicit(w, 0, memory_order_acquire) == v)
        pawl_relax(&looks);
}

/* Stores `v` and lets whoever waits on the word see it. Touches nothing after the store. */
static inline void pawl_post(pawl_word *w, uint64_t v)
{
    atomic_store_explicit(w, v, memory_order_release);
}

/* Adds one to a count and lets whoever waits for it to change see it. */
static inline void pawl_count_up(pawl_word *w)
{
    atomic_fetch_add_explicit(w, 1, memory_order_release);
}
