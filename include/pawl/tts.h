/* tts.h - test-and-test-and-set (Rudolph & Segall 1984; baseline of the capacitor paper)
 *
 * Admission   none: whoever sees the word free first takes it
 * Bypass      unbounded
 * Space       1 word per lock, none per thread
 * Unlock      by any thread, in constant time; does not touch the lock after the hand-off
 * Waiting     global: every waiter watches the word
 * Sharing     by threads of one process
 * Differs     tries with a CAS, not an exchange, so that lock() and trylock() are the same code; waiters look before
 *             they try again
 *
 *   0 unlocked, 1 held
 */
#pragma once

#include "detail/base.h"

typedef struct pawl_tts {
    pawl_word held;
} pawl_tts;

typedef pawl_no_ctx pawl_tts_ctx;

static inline bool pawl_tts_try_acquire(pawl_tts *l, pawl_tts_ctx *c)
{
    (void)c;
    return pawl_cas_acquire(&l->held, 0, 1); /* A: sees all the last owner wrote */
}

static inline void pawl_tts_acquire(pawl_tts *l, pawl_tts_ctx *c)
{
    while (PAWL_UNLIKELY(!pawl_tts_try_acquire(l, c)))
        pawl_wait_until_eq_relaxed(&l->held, 0);
}

static inline void pawl_tts_release(pawl_tts *l, pawl_tts_ctx *c)
{
    (void)c;
    pawl_post(&l->held, 0); /* A: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(tts, PAWL_HOW_OBLIVIOUS)
