/* timed.c - waiting with a deadline for a lock that has none
 *
 * A thread can't leave a lock's queue before its turn. So a thread with a deadline waits in a queue beside it, sets
 * META_TIMED in the mutex, and tries again now and then. An unlock that sees the flag hands the mutex off to the first
 * timed waiter: still locked, with the context in it. It does so every other time, because threads in the lock's own
 * queue wait, too. If only the thread that locked may unlock, there is no hand-off: the timed waiter is woken to try
 * again, and newcomers queue behind it, so that the lock's own queue drains.
 *
 * An unlock may miss the flag, or overwrite it when it stores `meta`. Then the next try comes within a millisecond.
 */
#include "lock.h"
#include "reentry.h"
#include "slow.h"

#include "src/reentry.h"
#include "src/park/futex.h"
#include "src/park/queue.h"

#include <pawl/detail/thread.h>

#include <errno.h>

enum { SHORTEST = 50000, LONGEST = 1000000 }; /* nanoseconds between two tries */

enum { WAITING, TRY_AGAIN, OWNER };

/* ---- unlocking */

/* Returns whether the first waiter owns the mutex now. */
static bool hand_off(pawl_bucket *k, mutex *m, pawl_sleeper *first)
{
    if (!LOCK_IS_OBLIVIOUS || (meta_of(m) & META_TIMED_LAST)) {
        atomic_fetch_and_explicit(&m->meta, ~(uint32_t)META_TIMED_LAST, memory_order_relaxed);
        atomic_store_explicit(&first->state, TRY_AGAIN, memory_order_relaxed);
        return false;
    }
    pawl_queue_remove(k, first);
    atomic_fetch_or_explicit(&m->meta, META_TIMED_LAST, memory_order_relaxed);
    atomic_store_explicit(&first->state, OWNER, memory_order_release); /* H: publishes the critical section */
    return true;
}

void release_or_hand_off(mutex *m)
{
    if (PAWL_UNLIKELY(pawl_is_reentry(m))) { /* timed waiters try again by themselves */
        reentrant_release(m);
        return;
    }
    pawl_bucket *k = pawl_bucket_lock(m);
    pawl_sleeper *first = pawl_queue_first(k, m);
    bool handed_off = false;
    if (first == NULL)
        atomic_fetch_and_explicit(&m->meta, ~(uint32_t)(META_TIMED | META_TIMED_LAST), memory_order_relaxed);
    else
        handed_off = hand_off(k, m, first);
    pawl_bucket_unlock(k);
    if (!handed_off)
        reentrant_release(m);
    if (first != NULL)
        pawl_futex_wake(&first->state);
}

/* ---- waiting */

static bool is_owner(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == OWNER; /* H */
}

/* Sleeps until woken or until the slice ends. Returns whether the deadline is over. */
static bool sleep_slice(pawl_sleeper *w, int clock, const struct timespec *deadline, long slice)
{
    struct timespec until = pawl_from_now(clock, slice);
    bool last = deadline != NULL && !pawl_is_before(&until, deadline);
    return pawl_futex_wait(&w->state, WAITING, clock, last ? deadline : &until) != 0 && last;
}

/* Returns false if the mutex was handed to it just before. */
static bool dequeue(mutex *m, pawl_sleeper *w)
{
    pawl_bucket *k = pawl_bucket_lock(m);
    bool owner = is_owner(w);
    if (!owner)
        pawl_queue_remove(k, w);
    pawl_bucket_unlock(k);
    return !owner;
}

static bool owns_or_takes(mutex *m, pawl_sleeper *w)
{
    uint32_t again = TRY_AGAIN;
    atomic_compare_exchange_strong_explicit(&w->state, &again, WAITING, memory_order_relaxed,
                                            memory_order_relaxed);
    if (is_owner(w))
        return true;
    if (!reentrant_try(m))
        return false;
    dequeue(m, w); /* nobody else held the mutex to hand it off meanwhile */
    return true;
}

static bool try_again(void *m)
{
    return reentrant_try(m);
}

int acquire_until(mutex *m, int clock, const struct timespec *deadline)
{
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error != 0)
        return error;
    if (PAWL_UNLIKELY(pawl_is_reentry(m)))
        return pawl_reentry_poll(try_again, m, clock, deadline);
    pawl_sleeper w;
    atomic_store_explicit(&w.state, WAITING, memory_order_relaxed);
    pawl_bucket *k = pawl_bucket_lock(m);
    pawl_queue_append(k, m, &w);
    pawl_bucket_unlock(k);
    for (long slice = SHORTEST;; slice = slice < LONGEST ? slice * 2 : LONGEST) {
        if (!(meta_of(m) & META_TIMED))
            atomic_fetch_or_explicit(&m->meta, META_TIMED, memory_order_relaxed);
        if (owns_or_takes(m, &w))
            return 0;
        if (sleep_slice(&w, clock, deadline, slice) && dequeue(m, &w))
            return ETIMEDOUT;
    }
}
