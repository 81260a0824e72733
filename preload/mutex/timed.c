/* timed.c - waiting with a deadline for a lock that knows none
 *
 * Who waits with a deadline must be able to leave, and a lock's own queue lets nobody go. So it does not enter that
 * queue but one of its own, says so in the mutex (META_TIMED), and tries again every so often. An unlock that sees the
 * flag hands the mutex to the first of them as it stands: held, with its context in it. Every other time, because those
 * in the lock's queue wait as well. Where only the thread that locked may unlock, it is woken to try again instead, and
 * those that come later wait behind it, so that the lock's queue comes to an end.
 *
 * The flag may come too late for an unlock, or be lost to one that writes `meta` at the same time. Then the next try
 * is less than a millisecond away.
 */
#include "lock.h"
#include "mutex.h"

#include "src/nested.h"
#include "src/park/futex.h"
#include "src/park/queue.h"

#include <pawl/detail/thread.h>

#include <errno.h>

enum { SHORTEST = 50000, LONGEST = 1000000 }; /* nanoseconds between two tries */

enum { WAITING, TRY_AGAIN, OWNER };

/* ---- unlocking */

/* Whether the first waiter has the mutex now. */
static bool hand_over(pawl_bucket *k, body *b, pawl_sleeper *first)
{
    if (!LOCK_IS_OBLIVIOUS || (meta_of(b) & META_TURN)) {
        atomic_fetch_and_explicit(&b->meta, ~(uint32_t)META_TURN, memory_order_relaxed);
        atomic_store_explicit(&first->state, TRY_AGAIN, memory_order_relaxed);
        return false;
    }
    pawl_queue_remove(k, first);
    atomic_fetch_or_explicit(&b->meta, META_TURN, memory_order_relaxed);
    atomic_store_explicit(&first->state, OWNER, memory_order_release); /* H: publishes the critical section */
    return true;
}

void release_timed(body *b)
{
    if (PAWL_UNLIKELY(pawl_nested_in(b))) { /* they will try */
        release_anyhow(b);
        return;
    }
    pawl_bucket *k = pawl_bucket_lock(b);
    pawl_sleeper *first = pawl_queue_first(k, b);
    bool done = false;
    if (first == NULL)
        atomic_fetch_and_explicit(&b->meta, ~(uint32_t)(META_TIMED | META_TURN), memory_order_relaxed);
    else
        done = hand_over(k, b, first);
    pawl_bucket_unlock(k);
    if (!done)
        release_anyhow(b);
    if (first != NULL)
        pawl_futex_wake(&first->state);
}

/* ---- waiting */

static bool is_owner(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == OWNER; /* H */
}

/* Sleeps until something happens or the slice is over. True if it was the last. */
static bool nap(pawl_sleeper *w, int clock, const struct timespec *deadline, long slice)
{
    struct timespec until = pawl_from_now(clock, slice);
    bool last = deadline != NULL && !pawl_is_before(&until, deadline);
    return pawl_futex_wait(&w->state, WAITING, clock, last ? deadline : &until) != 0 && last;
}

/* False if it was handed the mutex just in time. */
static bool leave(body *b, pawl_sleeper *w)
{
    pawl_bucket *k = pawl_bucket_lock(b);
    bool late = is_owner(w);
    if (!late)
        pawl_queue_remove(k, w);
    pawl_bucket_unlock(k);
    return !late;
}

static bool got_it(body *b, pawl_sleeper *w)
{
    uint32_t again = TRY_AGAIN;
    atomic_compare_exchange_strong_explicit(&w->state, &again, WAITING, memory_order_relaxed,
                                            memory_order_relaxed);
    if (is_owner(w))
        return true;
    if (!try_anyhow(b))
        return false;
    leave(b, w); /* nobody can have handed it over meanwhile */
    return true;
}

static bool try(void *b)
{
    return try_anyhow(b);
}

int take_until(body *b, int clock, const struct timespec *deadline)
{
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error != 0)
        return error;
    if (PAWL_UNLIKELY(pawl_nested_in(b)))
        return pawl_nested_take(try, b, clock, deadline);
    pawl_sleeper w;
    atomic_store_explicit(&w.state, WAITING, memory_order_relaxed);
    pawl_bucket *k = pawl_bucket_lock(b);
    pawl_queue_append(k, b, &w);
    pawl_bucket_unlock(k);
    for (long slice = SHORTEST;; slice = slice < LONGEST ? slice * 2 : LONGEST) {
        if (!(meta_of(b) & META_TIMED))
            atomic_fetch_or_explicit(&b->meta, META_TIMED, memory_order_relaxed);
        if (got_it(b, &w))
            return 0;
        if (nap(&w, clock, deadline, slice) && leave(b, &w))
            return ETIMEDOUT;
    }
}
