/* mutex.h - the mutex for most programs: barging with a bound, and waiters that sleep
 *
 * Admission   whoever comes while it is free; but of those that sleep, one is handed the mutex every so
 *             often, first come, first served, so that all of them are served in a few milliseconds
 * Bypass      at most PAWL_MUTEX_BYPASS acquisitions pass a thread that sleeps
 * Space       24 bytes per lock, none per thread; a queue of waiters in a process-wide table
 * Unlock      one store and no fence when nobody waits; does not touch the mutex after the release or the
 *             hand-over
 * Waiting     spins for a short time, then sleeps in the kernel, each thread on a word of its own
 * Differs     from a capacitor (capacitor.h): acquisitions are counted only while somebody waits; a platoon
 *             is measured in time; its waiters are not admitted at its end but one by one in its course
 *
 *   held    0 free, 1 owned. A hand-over leaves it at 1, so that nobody can barge in
 *   queue   0 nobody waits; else a sum of
 *           WAITERS   somebody is in the queue
 *           AWAKE     the first of them is up and competes: no unlock needs to wake anybody
 *           TURN      what is written on new waiters; it flips when a round begins
 *           CALLED    the first of them is to come, for the next share is its own
 *           HERE      and it has come
 *
 *   unlock, and queue is     0         AWAKE      WAITERS only          HERE, or CALLED for too long
 *                            release   release    release, wake one     hand over to the first
 *
 * All-zero bytes are an unlocked mutex. It needs no destruction. Another thread may unlock it.
 * docs/pawl_mutex.md tells the whole story.
 */
#pragma once

#include "atomic.h"
#include "watch.h"

#include <time.h>

/* The most acquisitions that may pass a sleeping thread. A limit for the worst case: the clock undercuts it,
 * unless critical sections are as short as can be and waiters many. */
#ifndef PAWL_MUTEX_BYPASS
#define PAWL_MUTEX_BYPASS 262144u
#endif

/* log2 of the number of places where a queue may show that it relies on being seen. */
#define PAWL_MUTEX_BITS 10

typedef struct pawl_mutex {
    _Atomic(uint32_t) held;
    _Atomic(uint32_t) queue;
    PAWL_HOLE(pthread_owner)
    uint32_t passed; /* releases in this round while somebody waited; the owner's, like all that follows */
    PAWL_HOLE(pthread_kind)
    PAWL_HOLE(pthread_meta)
    uint32_t look;  /* `passed` at which to look at the clock again                                     */
    uint32_t since; /* when a waiter was served last, in units of 1024 ns                               */
    uint16_t share; /* how long after that the next one is due                                          */
    uint8_t step;   /* releases between the last two looks                                              */
    uint8_t asked;  /* how many have been asked to help in this share                                   */
} pawl_mutex;

#define PAWL_MUTEX_INIT                                                                                      \
    {                                                                                                        \
        0, 0, 0, 0, 0, 0, 0, 0                                                                               \
    }

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses of mutexes of which a sleeper relies on an unlock's last look (1: several), hashed. */
extern pawl_word pawl_mutex_dormant[1 << PAWL_MUTEX_BITS];

/* Nonzero if unlock must order its store before its last look itself, because sleepers cannot do it for it.
 */
extern pawl_lone_word pawl_unlock_fences;
void pawl_unlock_fence(void);

/* The other halves of the functions below. */
void pawl_mutex_lock_contended(pawl_mutex *m);
int pawl_mutex_lock_until(pawl_mutex *m, int clock, const struct timespec *deadline);
void pawl_mutex_unlock_contended(pawl_mutex *m);
void pawl_mutex_wake_dormant(const void *m);

/* All of it through a call: for other languages, and where code size matters more than a nanosecond. */
void pawl_mutex_lock_call(pawl_mutex *m);
bool pawl_mutex_trylock_call(pawl_mutex *m);
void pawl_mutex_unlock_call(pawl_mutex *m);

#ifdef __cplusplus
}
#endif

static inline bool pawl_mutex_trylock(pawl_mutex *m)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(
        &m->held, &free, 1, memory_order_acquire,
        memory_order_relaxed); /* A: sees all the last owner wrote */
}

static inline void pawl_mutex_lock(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(!pawl_mutex_trylock(m)))
        pawl_mutex_lock_contended(m);
}

/* 0, or ETIMEDOUT at that time of that clock (CLOCK_MONOTONIC or CLOCK_REALTIME), or EINVAL if it is none. */
static inline int pawl_mutex_clocklock(pawl_mutex *m, int clock, const struct timespec *deadline)
{
    return PAWL_LIKELY(pawl_mutex_trylock(m)) ? 0 : pawl_mutex_lock_until(m, clock, deadline);
}

/* The same with CLOCK_REALTIME, as pthread_mutex_timedlock() has it. */
static inline int pawl_mutex_timedlock(pawl_mutex *m, const struct timespec *deadline)
{
    return pawl_mutex_clocklock(m, 0, deadline);
}

static inline unsigned pawl_mutex_slot(const volatile void *m)
{
    return pawl_hash(pawl_address(m), PAWL_MUTEX_BITS);
}

/* Once `held` is 0 the mutex may be gone. So what tells of sleepers that this thread did not see in `queue`
 * lives elsewhere. D: the store must come before the load. The sleeper sees to that with a barrier that acts
 * on all threads, and a fence is needed here only where it has none; the compiler must not swap them either.
 */
static inline void pawl_mutex_release(pawl_mutex *m)
{
    pawl_word *dormant = &pawl_mutex_dormant[pawl_mutex_slot(m)];
    atomic_store_explicit(&m->held, 0, memory_order_release); /* A: publishes the critical section */
    if (PAWL_UNLIKELY(atomic_load_explicit(&pawl_unlock_fences.value, memory_order_relaxed) != 0))
        pawl_unlock_fence();
    __asm__ volatile("" ::: "memory");
    if (PAWL_UNLIKELY(atomic_load_explicit(dormant, memory_order_relaxed) != 0)) /* D */
        pawl_mutex_wake_dormant(m);
}

static inline void pawl_mutex_unlock(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(atomic_load_explicit(&m->queue, memory_order_relaxed) != 0))
        pawl_mutex_unlock_contended(m);
    else
        pawl_mutex_release(m);
}

/* It needs none. Where one is said to happen, debug mode reports a mutex that is held (docs/debugging.md). */
static inline void pawl_mutex_destroy(pawl_mutex *m)
{
    PAWL_TELL(pawl_debug_quiet());
    bool held = atomic_load_explicit(&m->held, memory_order_relaxed) != 0;
    PAWL_TELL(pawl_debug_loud());
    pawl_watch_destroyed(m, "pawl_mutex", PAWL_HOW_TELLS | (held ? PAWL_HOW_HELD : 0));
}

#ifdef PAWL_WATCHED
#include "watch_mutex.h"
PAWL_WATCH_MUTEX(mutex, held)
#define pawl_mutex_lock      pawl_mutex_watched_lock
#define pawl_mutex_trylock   pawl_mutex_watched_trylock
#define pawl_mutex_clocklock pawl_mutex_watched_clocklock
#define pawl_mutex_timedlock pawl_mutex_watched_timedlock
#define pawl_mutex_unlock    pawl_mutex_watched_unlock
#endif
