/* wait.h - how a thread waits, and how it is woken
 *
 * A lock says what it waits for; this file alone decides how. Every wait names the word it watches, and every write
 * that may end a wait is one of the posts below. policy.h has the choices.
 *
 * Unless a name says otherwise, a wait is an acquire and a post is a release.
 *
 * After its store, a post loads one counter, which nobody writes unless a thread parks on a word with the same
 * address bits. The full fence between the two is paid for by the sleeper (src/park/word.c). After the store a post
 * uses only the word's address: its memory may be gone.
 *
 * With PAWL_FREESTANDING, waits only spin, posts only store, and nothing of libpawl is used here.
 */
#pragma once

#include "../policy.h"
#include "atomic.h"

/* Looks before a waiter asks the policy: about 2 us where PAUSE takes 140 cycles, as on recent machines, 70 ns where
 * it takes 4. */
#ifndef PAWL_SPINS
#define PAWL_SPINS 32
#endif

/* How far a wait has come on its way to sleep. */
typedef enum pawl_wait_state { PAWL_LOOKING, PAWL_ANNOUNCED, PAWL_READY } pawl_wait_state;

typedef struct pawl_waiter {
    unsigned looks;
    unsigned most;   /* looks before it parks; 0: not known yet    */
    uint32_t ticket; /* the bucket's sequence before the last look; before it parks, its yields */
    uint32_t which;  /* the posts it has announced itself for      */
    uint32_t forks;  /* before it announced itself                 */
    pawl_wait_state state;
} pawl_waiter;

#define PAWL_WAITER                                                                                          \
    {                                                                                                        \
        0, 0, 0, 0, 0, PAWL_LOOKING                                                                          \
    }

/* Which posts wake a sleeper: any, or those of one value (and of the others that fold to the same bits). */
#define PAWL_ANY      ((uint32_t)0)
#define PAWL_VALUE(v) ((uint32_t)((uint64_t)(v) ^ (uint64_t)(v) >> 32) << 1 | 1)

static inline void pawl_pause(void)
{
#if defined(PAWL_PAUSE) /* the simulator's, where only virtual time passes */
    PAWL_PAUSE();
#elif defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* YIELD is a no-op on most cores; ISB really slows the loop down */
#elif defined(__riscv)
    __asm__ volatile(".4byte 0x0100000f"); /* PAUSE of Zihintpause, a harmless FENCE elsewhere */
#endif
}

#ifdef PAWL_FREESTANDING

static inline void pawl_relax(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    pawl_pause();
}

static inline void pawl_wait_end(pawl_waiter *me, pawl_word *w)
{
    (void)me, (void)w;
}

static inline void pawl_wake(const volatile void *w, uint64_t v)
{
    (void)w, (void)v;
}

#else

#ifdef __cplusplus
extern "C" {
#endif

/* Does what the policy says between two looks at `w`, which held `seen`. */
void pawl_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
    PAWL_NUMBERED("pawl_wait_turn");

/* Undoes what pawl_wait_turn() announced. */
void pawl_wait_over(pawl_waiter *me, pawl_word *w) PAWL_NUMBERED("pawl_wait_over");

/* Unparks the threads that wait on `w` for `v` or for any change. */
void pawl_unpark(const volatile void *w, uint64_t v) PAWL_NUMBERED("pawl_unpark");

/* How many threads are parked, or about to be, on words with these address bits. Never zero where posts must fence
 * for themselves (src/park/fence.h). */
#ifndef PAWL_PARKED_BITS
#define PAWL_PARKED_BITS 8
#endif
extern pawl_word pawl_parked[1 << PAWL_PARKED_BITS] PAWL_BUILT_WITH(pawl_parked, PAWL_PARKED_BITS);

#ifdef __cplusplus
}
#endif

static inline void pawl_relax(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    pawl_pause();
    if (PAWL_UNLIKELY(++me->looks >= PAWL_SPINS))
        pawl_wait_turn(me, w, seen, which);
}

/* Ends every wait that called pawl_relax(). */
static inline void pawl_wait_end(pawl_waiter *me, pawl_word *w)
{
    if (PAWL_UNLIKELY(me->state != PAWL_LOOKING))
        pawl_wait_over(me, w);
}

/* Bits 8 to 15: x86 has an instruction that extracts just these. */
static inline unsigned pawl_parked_at(const volatile void *w)
{
    return (unsigned)(pawl_address(w) >> 8) % (1u << PAWL_PARKED_BITS);
}

/* P: comes after the store to the word; see pawl_park(). In assembly, because compilers do not compare with an atomic
 * in memory, and what that saves pays for the index. */
static inline bool pawl_is_parked_on(const volatile void *w)
{
    pawl_word *parked = &pawl_parked[pawl_parked_at(w)];
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(PAWL_UNDER_TSAN)
    bool some;
    __asm__ volatile("cmpq $0, %1" : "=@ccne"(some) : "m"(*parked) : "memory");
    return some;
#else
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(parked, memory_order_relaxed) != 0;
#endif
}

/* Call it after `v` was stored to the word at this address. */
static inline void pawl_wake(const volatile void *w, uint64_t v)
{
    if (PAWL_UNLIKELY(pawl_is_parked_on(w)))
        pawl_unpark(w, v);
}

#endif

/* ---- waits */

/* How to look at the word. PAWL_RMW is Hemlock's coherence-friendly polling, for a word that the waiter writes next:
 * the look is itself a write, so the line arrives writable. */
typedef enum pawl_look { PAWL_LOAD, PAWL_LOAD_RELAXED, PAWL_RMW } pawl_look;

/* What to wait for: any value but `v`, `v` itself, or a counter that has passed `v`. */
typedef enum pawl_wish { PAWL_CHANGE, PAWL_EQUAL, PAWL_PAST } pawl_wish;

#define PAWL_INLINE __attribute__((always_inline)) static inline

PAWL_INLINE uint64_t pawl_look_at(pawl_word *w, pawl_look look)
{
    switch (look) {
    case PAWL_LOAD_RELAXED:
        return atomic_load_explicit(w, memory_order_relaxed);
    case PAWL_RMW:
        return atomic_fetch_add_explicit(w, 0, memory_order_acquire);
    default:
        return atomic_load_explicit(w, memory_order_acquire);
    }
}

PAWL_INLINE bool pawl_is_fulfilled(pawl_wish wish, uint64_t now, uint64_t v)
{
    return wish == PAWL_CHANGE ? now != v : wish == PAWL_EQUAL ? now == v : (int64_t)(now - v) > 0;
}

PAWL_INLINE uint64_t pawl_wait_loop(pawl_word *w, uint64_t v, pawl_look look, pawl_wish wish)
{
    uint64_t now;
    pawl_waiter me = PAWL_WAITER;
    while (!pawl_is_fulfilled(wish, now = pawl_look_at(w, look), v))
        pawl_relax(&me, w, now, wish == PAWL_EQUAL ? PAWL_VALUE(v) : PAWL_ANY);
    pawl_wait_end(&me, w);
    return now;
}

/* Each wait below is one look inline, and a slow half out of line: the loop's state would cost those that do not
 * wait. (The checker inlines both, to tell waits apart.) */
#ifndef PAWL_SLOW_PATH
#define PAWL_SLOW_PATH __attribute__((noinline, cold, unused)) static
#endif

#define PAWL_WAIT(name, look, wish)                                                                          \
    PAWL_SLOW_PATH uint64_t name##_slow(pawl_word *w, uint64_t v)                                            \
    {                                                                                                        \
        return pawl_wait_loop(w, v, look, wish);                                                             \
    }                                                                                                        \
    static inline uint64_t name(pawl_word *w, uint64_t v)                                                    \
    {                                                                                                        \
        uint64_t now = pawl_look_at(w, look);                                                                \
        return PAWL_LIKELY(pawl_is_fulfilled(wish, now, v)) ? now : name##_slow(w, v);                       \
    }

/* Wait while the word holds `v`, until it holds `v`, or until a counter that only grows has passed `v`. Return the
 * value that ended the wait. */
PAWL_WAIT(pawl_wait_while_eq, PAWL_LOAD, PAWL_CHANGE)
PAWL_WAIT(pawl_wait_until_eq, PAWL_LOAD, PAWL_EQUAL)
PAWL_WAIT(pawl_wait_until_past, PAWL_LOAD, PAWL_PAST)
PAWL_WAIT(pawl_wait_while_eq_relaxed, PAWL_LOAD_RELAXED, PAWL_CHANGE)
PAWL_WAIT(pawl_wait_until_eq_relaxed, PAWL_LOAD_RELAXED, PAWL_EQUAL)

PAWL_SLOW_PATH void pawl_wait_rmw_while_eq(pawl_word *w, uint64_t v)
{
    pawl_wait_loop(w, v, PAWL_RMW, PAWL_CHANGE);
}

PAWL_SLOW_PATH void pawl_wait_rmw_until_eq(pawl_word *w, uint64_t v)
{
    pawl_wait_loop(w, v, PAWL_RMW, PAWL_EQUAL);
}

/* The same polling, but replaces the awaited value: acquires what came with `from`, and posts `to`. */
PAWL_SLOW_PATH void pawl_wait_cas(pawl_word *w, uint64_t from, uint64_t to)
{
    pawl_waiter me = PAWL_WAITER;
    uint64_t seen = from;
    while (
        !atomic_compare_exchange_strong_explicit(w, &seen, to, memory_order_acq_rel, memory_order_relaxed)) {
        pawl_relax(&me, w, seen, PAWL_VALUE(from));
        seen = from;
    }
    pawl_wait_end(&me, w);
    pawl_wake(w, to);
}

/* Looks at most `most` times and never sleeps; true if the word no longer holds `v`. */
static inline bool pawl_spin_while_eq(pawl_word *w, uint64_t v, unsigned most)
{
    for (; most > 0; most--) {
        if (atomic_load_explicit(w, memory_order_acquire) != v)
            return true;
        pawl_pause();
    }
    return false;
}

/* ---- posts */

static inline void pawl_post(pawl_word *w, uint64_t v)
{
    atomic_store_explicit(w, v, memory_order_release);
    pawl_wake(w, v);
}

static inline void pawl_post_seq_cst(pawl_word *w, uint64_t v)
{
    atomic_store_explicit(w, v, memory_order_seq_cst);
    pawl_wake(w, v);
}

/* Posts `to` if the word holds `from`. */
static inline bool pawl_post_cas(pawl_word *w, uint64_t from, uint64_t to)
{
    if (!pawl_cas_release(w, from, to))
        return false;
    pawl_wake(w, to);
    return true;
}

/* Adds one to a counter that threads watch for any change. */
static inline void pawl_post_count(pawl_word *w)
{
    atomic_fetch_add_explicit(w, 1, memory_order_release);
    pawl_wake(w, 0);
}

/* Adds to a counter; returns what it was. */
static inline uint64_t pawl_post_add(pawl_word *w, uint64_t n)
{
    uint64_t before = atomic_fetch_add_explicit(w, n, memory_order_release);
    pawl_wake(w, before + n);
    return before;
}
