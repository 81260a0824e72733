/* mutex.h - the mutex for most programs: barging with a bound in time, and waiters that sleep
 *
 * Admission   none: whoever comes while it is free; but the head of the queue gets a hand-off once others have barged
 *             past it for its share: about 20 us where releases are less than 0.6 us apart, 150 us where they are less
 *             than 5 us apart, else 4 ms divided by the number of waiters, 150 us at least. In the queue, a thread that
 *             has not competed for 50 us goes before those that have, unless they have waited for 16 ms
 * Bypass      by time: once its share is over and it runs, the head of the queue is passed by the section under way
 *             and at most one that slipped in; if it cannot run, by those of another millisecond, or 263 of them
 * Space       3 words per lock, none per thread; a queue of waiters in a process-wide table
 * Unlock      by any thread, not in constant time: one load and one store when nobody waits, else a look into its
 *             queue; does not touch the lock after the release or the hand-off
 * Waiting     local: spins for a short time, yields a few times, then sleeps in the kernel, each thread on a word of
 *             its own. The head of the queue sleeps with a timer, so no wake-up and no hand-off depends on an owner
 *             that reads the clock
 * Sharing     by threads of one process
 * Differs     from a capacitor (capacitor.h): a platoon is measured in time, by the first waiter that it keeps out
 *
 *   held    0 free, else owned: 1, or 1 + 2 * slot by a thread with this slot in a hint's sheet (docs/hint.md) that had
 *           to wait. A hand-off leaves it owned, so that nobody can barge in
 *   queue   0 nobody waits; else a sum of
 *           WAITERS   somebody is in the queue
 *           TIMED     its head has been up: it has a timer, and `due` says when its share is over
 *           AWAKE     its head is up and competes: the designated waker
 *           HANDOFF   its head has asked for a hand-off
 *
 *                    0         WAITERS              TIMED                 TIMED | AWAKE        with HANDOFF
 *   lock             take it, or spin, queue up and sleep (in every state)
 *   unlock           release   release, wake head   release, wake head*   release*             hand off
 *   unlock_fair      release   hand off (in every state)
 *   a timer is up    -         -                    AWAKE                 -                    look, sleep again
 *   the head loses   -         -                    -                     TIMED                sleep
 *   its share ends   -         -                    -                     HANDOFF              -
 *   the head goes    -         0, or WAITERS for the next one (in every state)
 *
 *   * Every few releases, counted by `patience`, a release reads the clock. Then it wakes a head that did not lose when
 *     it was last up (unless a hint says that others want its CPU), or whose timer is late; yields its CPU to one that
 *     was woken and does not run; and hands off to one that should have asked by now.
 *
 * All-zero bytes are an unlocked mutex. It needs no destruction. Another thread may unlock it.
 * docs/pawl_mutex.md tells the whole story.
 */
#pragma once

#include "detail/functions.h"

#ifdef PAWL_MUTEX_BYPASS
#error "PAWL_MUTEX_BYPASS has no effect: how long a waiter is passed is a matter of time"
#endif

typedef struct pawl_mutex {
    _Atomic(uint32_t) held;
    _Atomic(uint32_t) queue;
    PAWL_HOLE(pthread_owner)
    _Atomic(uint32_t) patience; /* releases left until one reads the clock; negative: until one is a call */
    PAWL_HOLE(pthread_kind)
    PAWL_HOLE(pthread_meta)
    /* Guarded by the bucket's lock, like the queue. Times are in ticks of 1024 ns. */
    uint32_t due;            /* when the head's share is over                    */
    uint16_t looked;         /* when an owner last read the clock, or the head asked */
    uint16_t attend;         /* when an owner may yield to the head, or wake it  */
    uint8_t step;            /* releases until the next reading                  */
    _Atomic(uint8_t) losses; /* wake-ups of heads in a row that found it taken   */
    uint8_t skips;           /* releases in a row that did not wait for the bucket; the owner's */
} pawl_mutex;

#define PAWL_MUTEX_INIT                                                                                      \
    {                                                                                                        \
        0, 0, 0, 0, 0, 0, 0, 0, 0                                                                            \
    }

#ifdef __cplusplus
extern "C" {
#endif

/* The slow halves of the functions below. */
void pawl_mutex_lock_contended(pawl_mutex *m);
int pawl_mutex_lock_until(pawl_mutex *m, int clock, const struct timespec *deadline);
void pawl_mutex_unlock_contended(pawl_mutex *m);
void pawl_mutex_unlock_fair_contended(pawl_mutex *m);

/* Out of line: for other languages, and where code size matters more than a nanosecond. */
void pawl_mutex_lock_call(pawl_mutex *m);
bool pawl_mutex_trylock_call(pawl_mutex *m);
void pawl_mutex_unlock_call(pawl_mutex *m);
void pawl_mutex_unlock_fair_call(pawl_mutex *m);

#ifdef __cplusplus
}
#endif

/* 0: free; 1: held, and nobody waits; else look closer. For a process with one thread. */
#define pawl_mutex_word(m) (&(m)->held)

static inline bool pawl_mutex_try_acquire(pawl_mutex *m)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(
        &m->held, &free, 1, memory_order_acquire,
        memory_order_relaxed); /* A: sees all the last owner wrote */
}

static inline void pawl_mutex_acquire(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(!pawl_mutex_try_acquire(m)))
        pawl_mutex_lock_contended(m);
}

/* Bits of `queue` */
enum { PAWL_M_WAITERS = 1, PAWL_M_AWAKE = 2, PAWL_M_HANDOFF = 4, PAWL_M_TIMED = 8 };

/* Whether a release does nothing for those in the queue. Only the owner asks, and is counted. */
static inline bool pawl_mutex_is_patient(pawl_mutex *m, uint32_t queue)
{
    int32_t patience = (int32_t)atomic_load_explicit(&m->patience, memory_order_relaxed);
    if ((queue & PAWL_M_HANDOFF) != 0 || patience <= 0)
        return false;
    atomic_store_explicit(&m->patience, (uint32_t)patience - 1, memory_order_relaxed);
    return true;
}

/* Misses a waiter that queues up between the load and the store. That waiter still watches `held`; should this thread
 * be interrupted for longer than that, the waiter's timer wakes it. */
static inline void pawl_mutex_release(pawl_mutex *m)
{
    uint32_t queue = atomic_load_explicit(&m->queue, memory_order_relaxed);
    if (PAWL_UNLIKELY(queue != 0) && !pawl_mutex_is_patient(m, queue))
        pawl_mutex_unlock_contended(m);
    else
        atomic_store_explicit(&m->held, 0, memory_order_release); /* A: publishes the critical section */
}

static inline void pawl_mutex_release_fair(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(atomic_load_explicit(&m->queue, memory_order_relaxed) != 0))
        pawl_mutex_unlock_fair_contended(m);
    else
        atomic_store_explicit(&m->held, 0, memory_order_release); /* A */
}

PAWL_MUTEX_FUNCTIONS(mutex, held)

/* Unlocks, and hands the mutex to the head of its queue, whatever the clock says: nobody barges past it, nor does this
 * thread if it locks again at once. Everybody waits until the head runs, so use it where the order matters more than
 * the time. A thread that has just come and still spins is not in the queue. */
PAWL_HOOK void pawl_mutex_unlock_fair(pawl_mutex *m)
{
    pawl_hook_unlocking(m, "pawl_mutex", PAWL_HOW_OF(m->held));
    pawl_mutex_release_fair(m);
    pawl_hook_unlocked(m);
}
