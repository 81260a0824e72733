/* fairmutex.c - pawl_fairmutex when somebody waits */
#include <pawl/fairmutex.h>
#include "reentry.h"
#include "park/futex.h"
#include "park/hint.h"
#include "park/pause.h"
#include "park/queue.h"
#include "park/yield.h"

#include <pawl/detail/thread.h>
#include <pawl/detail/wait.h>

#include <errno.h>

/* Nanoseconds a waiter spins, and then yields, before it sleeps. */
#ifndef PAWL_FAIRMUTEX_SPIN
#define PAWL_FAIRMUTEX_SPIN 4000u
#endif
#ifndef PAWL_FAIRMUTEX_YIELDING
#define PAWL_FAIRMUTEX_YIELDING 100000u
#endif

enum { HELD = 1, QUEUED = 2, FLAGS = HELD | QUEUED };

enum { ASLEEP, AWAKE, OWNER }; /* a waiter's state; only ASLEEP needs waking */

/* ---- the queue, under the bucket's lock */

/* Moves new arrivals to the end of the queue, in order. The mutex must be held, by whomever. Without arrivals the word
 * stays as it is: a child of fork() may have zeroed it in a handler that interrupted a wait. */
static void collect(pawl_bucket *b, pawl_fairmutex *m)
{
    if ((atomic_load_explicit(&m->word, memory_order_relaxed) & ~(uint64_t)FLAGS) == 0)
        return;
    uint64_t arrivals = atomic_exchange_explicit(&m->word, HELD | QUEUED, memory_order_acquire); /* E */
    pawl_sleeper *latest = (pawl_sleeper *)(arrivals & ~(uint64_t)FLAGS), *oldest = NULL;
    while (latest != NULL) {
        pawl_sleeper *before = latest->next;
        latest->next = oldest;
        oldest = latest;
        latest = before;
    }
    while (oldest != NULL) {
        pawl_sleeper *after = oldest->next;
        pawl_queue_append(b, m, oldest);
        oldest = after;
    }
}

static void dequeue(pawl_bucket *b, pawl_fairmutex *m, pawl_sleeper *w)
{
    pawl_queue_remove(b, w);
    if (pawl_queue_first(b, m) == NULL)
        atomic_fetch_and_explicit(&m->word, ~(uint64_t)QUEUED, memory_order_relaxed);
}

/* ---- unlocking */

static void unlock_later(void *mutex)
{
    pawl_fairmutex_unlock_contended(mutex);
}

void pawl_fairmutex_unlock_contended(pawl_fairmutex *m)
{
    if (PAWL_UNLIKELY(pawl_is_reentry(m))) {
        pawl_reentry_defer(unlock_later, m);
        return;
    }
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_sleeper *first = pawl_queue_first(b, m), *asleep = NULL;
    while (first == NULL) {
        if (pawl_cas_release(&m->word, HELD, 0)) { /* all waiters have given up */
            pawl_bucket_unlock(b);
            return;
        }
        collect(b, m);
        first = pawl_queue_first(b, m);
    }
    dequeue(b, m, first);
    /* B: publishes the critical section */
    if (atomic_exchange_explicit(&first->state, OWNER, memory_order_release) == ASLEEP)
        asleep = first;
    pawl_bucket_unlock(b);
    if (asleep != NULL)
        pawl_futex_wake(&asleep->state);
}

/* ---- waiting */

/* Returns what was there before: 0 if the mutex was free and is ours; else `w` is in line for it. */
static uint64_t arrive(pawl_fairmutex *m, pawl_sleeper *w)
{
    uint64_t seen = atomic_load_explicit(&m->word, memory_order_relaxed);
    for (;;) {
        uint64_t next = seen == 0 ? HELD : pawl_address(w) | (seen & FLAGS);
        w->next = (pawl_sleeper *)(seen & ~(uint64_t)FLAGS);
        /* A: if free, sees all the last owner wrote. E: if not, publishes what is in `w`. */
        if (atomic_compare_exchange_weak_explicit(&m->word, &seen, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return seen;
    }
}

static uint32_t state(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static bool is_owner(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == OWNER; /* B: sees the critical section */
}

static bool spin(const pawl_sleeper *w)
{
    uint32_t most = pawl_pauses(PAWL_FAIRMUTEX_SPIN);
    for (uint32_t looks = 0; pawl_hint_looks_on(looks, most); looks++) {
        if (is_owner(w))
            return true;
        pawl_pause();
    }
    return false;
}

/* For the first in line: a hand-off to a sleeper keeps everybody waiting until it is up, and the last owner, back in
 * line meanwhile, would sleep, too. If many yielded, they would only contend for CPUs. */
static bool yield(const pawl_sleeper *w)
{
    uint32_t start = pawl_ticks();
    while (state(w) != OWNER && pawl_ticks() - start < PAWL_TICKS(PAWL_FAIRMUTEX_YIELDING) && pawl_yield())
        ;
    return is_owner(w);
}

/* After a timeout. False if it was handed the mutex just before. */
static bool leave(pawl_fairmutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    bool late = state(w) == OWNER; /* ordered by the bucket's lock */
    if (!late) {
        collect(b, m);
        dequeue(b, m, w);
    }
    pawl_bucket_unlock(b);
    return !late;
}

static bool try(void *mutex)
{
    return pawl_fairmutex_trylock(mutex);
}

int pawl_fairmutex_lock_until(pawl_fairmutex *m, int clock, const struct timespec *deadline)
{
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error != 0)
        return error;
    if (PAWL_UNLIKELY(pawl_is_reentry(m))) /* a hand-off needs the bucket, and so does leaving */
        return pawl_reentry_poll(try, m, clock, deadline);
    pawl_sleeper w;
    uint32_t awake = AWAKE;
    pawl_hint_begin();
    if (deadline == NULL) /* it may take some milliseconds */
        pawl_hint_join();
    atomic_store_explicit(&w.state, AWAKE, memory_order_relaxed);
    uint64_t before = arrive(m, &w);
    if (before == 0 || spin(&w) || (before == HELD && yield(&w)))
        return 0;
    pawl_hint_slept();
    atomic_compare_exchange_strong_explicit(&w.state, &awake, ASLEEP, memory_order_relaxed,
                                            memory_order_relaxed);
    while (!is_owner(&w)) {
        error = pawl_futex_wait(&w.state, ASLEEP, clock, deadline);
        if (error != 0 && leave(m, &w))
            return error;
    }
    return 0;
}
