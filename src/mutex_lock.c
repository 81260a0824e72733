/* mutex_lock.c - pawl_mutex: waiting for it */
#include "mutex.h"
#include "nested.h"
#include "park/fence.h"
#include "park/futex.h"
#include "park/pause.h"

#include <pawl/wait.h>

/* Nanoseconds of spinning: before a thread queues up; as the first in a new queue; when it was woken; and when it was
 * called, for then the next release is a hand-over. */
#ifndef PAWL_MUTEX_SPIN_FIRST
#define PAWL_MUTEX_SPIN_FIRST 500u
#endif
#ifndef PAWL_MUTEX_SPIN
#define PAWL_MUTEX_SPIN 4000u
#endif
#ifndef PAWL_MUTEX_SPIN_AWAKE
#define PAWL_MUTEX_SPIN_AWAKE 1000u
#endif
#ifndef PAWL_MUTEX_SPIN_CALLED
#define PAWL_MUTEX_SPIN_CALLED 20000u
#endif
#define STEP_MOST 16 /* pauses between two looks: each look costs the owner a miss */

static uint32_t state(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static bool is_owner(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) ==
           PAWL_OWNER; /* B: sees the critical section */
}

static bool looks_free(const pawl_mutex *m)
{
    return atomic_load_explicit(&m->held, memory_order_relaxed) == 0;
}

static bool spin(pawl_mutex *m, const pawl_sleeper *w, uint32_t nanoseconds)
{
    uint32_t left = pawl_pauses(nanoseconds), step = 1;
    while (left > 0 && (w == NULL || state(w) != PAWL_OWNER)) {
        step = step < left ? step : left;
        for (uint32_t i = 0; i < step; i++)
            pawl_pause();
        left -= step;
        if (looks_free(m) && pawl_mutex_trylock(m))
            return true;
        if (step < STEP_MOST)
            step *= 2;
    }
    return false;
}

/* ---- in the queue */

/* The mutex was taken: out of the queue. */
static void settle(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    if (pawl_queue_first(b, m) == w)
        pawl_mutex_serve(b, m, w);
    else
        pawl_mutex_dequeue(b, m, w);
    pawl_bucket_unlock(b);
}

/* The first waiter, asleep from now on as far as others are concerned: the next release must wake it. That
 * release may be under way and have read `queue` before: then it looks at pawl_mutex_dormant after `held` is
 * 0. D: if that look comes too early, the attempt here, which comes after the barrier, finds the mutex free.
 */
static bool try_once_more(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_fence_heavy(); /* D */
    if (!pawl_mutex_trylock(m))
        return false;
    settle(m, w);
    return true;
}

static void lie_down(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    if (state(w) == PAWL_AWAKE) {
        atomic_store_explicit(&w->state, PAWL_ASLEEP, memory_order_relaxed);
        uint32_t bits = atomic_load_explicit(&m->queue, memory_order_relaxed);
        atomic_store_explicit(&m->queue, bits & ~(uint32_t)(PAWL_M_AWAKE | PAWL_M_HERE),
                              memory_order_relaxed);
        pawl_mutex_set_dormant(b, m, true);
    }
    pawl_bucket_unlock(b);
}

/* If the first waiter was called, it says that it is here. */
static bool is_called(pawl_mutex *m, pawl_sleeper *w)
{
    uint32_t bits = atomic_load_explicit(&m->queue, memory_order_relaxed);
    if (!(bits & PAWL_M_CALLED))
        return false;
    pawl_bucket *b = pawl_bucket_lock(m);
    bool here = state(w) == PAWL_AWAKE;
    if (here) {
        bits = atomic_load_explicit(&m->queue, memory_order_relaxed);
        atomic_store_explicit(&m->queue, bits | PAWL_M_HERE, memory_order_relaxed);
    }
    pawl_bucket_unlock(b);
    return here;
}

/* Awake and responsible, until it owns the mutex (true) or is ASLEEP or OWNER. */
static bool compete(pawl_mutex *m, pawl_sleeper *w)
{
    if (pawl_mutex_trylock(m) ||
        spin(m, w, is_called(m, w) ? PAWL_MUTEX_SPIN_CALLED : PAWL_MUTEX_SPIN_AWAKE)) {
        settle(m, w);
        return true;
    }
    lie_down(m, w);
    return state(w) == PAWL_ASLEEP && try_once_more(m, w);
}

/* Awake, but if it loses, the one that is responsible is still there. */
static bool help(pawl_mutex *m, pawl_sleeper *w)
{
    if (pawl_mutex_trylock(m) || spin(m, w, PAWL_MUTEX_SPIN_AWAKE)) {
        settle(m, w);
        return true;
    }
    uint32_t up = PAWL_HELPER;
    atomic_compare_exchange_strong_explicit(&w->state, &up, PAWL_ASLEEP, memory_order_relaxed,
                                            memory_order_relaxed);
    return false;
}

/* False if it was handed the mutex just in time. */
static bool leave(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    uint32_t was = state(w);
    pawl_sleeper *asleep = NULL;
    if (was != PAWL_OWNER) {
        bool first = pawl_queue_first(b, m) == w;
        pawl_mutex_dequeue(b, m, w);
        if (first && w->next != NULL)
            asleep = pawl_mutex_rouse(b, m, w->next);
    }
    pawl_bucket_unlock(b);
    if (asleep != NULL)
        pawl_futex_wake(&asleep->state);
    return was != PAWL_OWNER;
}

int pawl_mutex_wait(pawl_mutex *m, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    for (;;) {
        if (state(w) == PAWL_AWAKE && compete(m, w))
            return 0;
        if (state(w) == PAWL_HELPER && help(m, w))
            return 0;
        if (is_owner(w))
            return 0;
        int result = pawl_futex_wait(&w->state, PAWL_ASLEEP, clock, deadline);
        if (result != 0)
            return leave(m, w) ? result : 0;
    }
}

/* ---- arriving */

static bool try(void *mutex)
{
    return pawl_mutex_trylock(mutex);
}

/* The first in a queue has nobody to wake before itself: it goes on spinning for a while, but in its place.
 */
static int queue_up(pawl_mutex *m, int clock, const struct timespec *deadline)
{
    if (PAWL_UNLIKELY(pawl_nested_in(m)))
        return pawl_nested_take(try, m, clock, deadline);
    pawl_sleeper w;
    atomic_store_explicit(&w.state, PAWL_ASLEEP, memory_order_relaxed);
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_mutex_enqueue(b, m, &w);
    pawl_sleeper *first = pawl_queue_first(b, m);
    bool unsure = first != &w && first->dormant;
    if (first == &w)
        pawl_mutex_rouse(b, m, &w);
    pawl_bucket_unlock(b);
    if (first == &w && spin(m, &w, PAWL_MUTEX_SPIN)) {
        settle(m, &w);
        return 0;
    }
    if (unsure)
        pawl_fence_heavy(); /* or else releases that have not seen the queue yet could pass uncounted */
    return pawl_mutex_wait(m, &w, clock, deadline);
}

void pawl_mutex_lock_contended(pawl_mutex *m)
{
    if (!spin(m, NULL, PAWL_MUTEX_SPIN_FIRST))
        queue_up(m, CLOCK_MONOTONIC, NULL);
}

int pawl_mutex_lock_until(pawl_mutex *m, int clock, const struct timespec *deadline)
{
    int error = pawl_deadline_check(clock, deadline);
    if (error != 0)
        return error;
    return spin(m, NULL, PAWL_MUTEX_SPIN_FIRST) ? 0 : queue_up(m, clock, deadline);
}
