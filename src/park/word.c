/* word.c - parking on a word of any lock
 *
 * A futex has 32 bits, and the words that locks wait on have 64: so a thread sleeps on a sequence number in a bucket.
 * The word and the awaited value together select the bucket, and one of the 32 kinds of sleepers in it: of a hundred
 * that wait for their turns at one word, a post wakes the one whose turn it is. For those that wait for any change,
 * the word alone selects the bucket. A post looks at both buckets, and raises the sequence of each that has sleepers.
 *
 *   waiter                                     post
 *   counts itself, bucket and pawl_parked (1)  stores to the word                       (3)
 *   pawl_fence_heavy()                    (P)  light side of the fence                  (P)
 *   looks at the word, sleeps             (2)  looks at pawl_parked, wakes both buckets (4)
 */
#include "fence.h"
#include "futex.h"
#include "hint.h"
#include "word.h"

#include "../fork.h"

#define FENCED ((uint64_t)1 << 32) /* in pawl_parked: posts must fence for themselves */

enum { BRIEFLY = 1000000, ENTRIES = 1 << PAWL_PARKED_BITS };

pawl_word pawl_parked[ENTRIES] PAWL_ALIGNED;
static uint32_t forks; /* that led to this process; written before it has a second thread */

static pawl_word *parked_at(const volatile void *w)
{
    return &pawl_parked[pawl_parked_at(w)];
}

void pawl_parked_fence(bool fence)
{
    for (int i = 0; i < ENTRIES; i++)
        if (fence)
            atomic_fetch_or_explicit(&pawl_parked[i], FENCED, memory_order_relaxed);
        else
            atomic_fetch_and_explicit(&pawl_parked[i], ~FENCED, memory_order_relaxed);
}

bool pawl_parked_is_fenced(void)
{
    uint64_t all = 0;
    for (int i = 0; i < ENTRIES; i++)
        all |= atomic_load_explicit(&pawl_parked[i], memory_order_relaxed);
    return (all & FENCED) != 0;
}

pawl_place pawl_place_of(const volatile void *w, uint32_t which)
{
    enum { KIND_BITS = 5 };
    unsigned hash = pawl_hash(pawl_address(w) + ((uint64_t)which << 32), PAWL_BUCKET_BITS + KIND_BITS);
    return (pawl_place){pawl_bucket_at(hash >> KIND_BITS), (uint32_t)1 << hash % (1u << KIND_BITS)};
}

/* If a signal handler forks in the middle of this, or of pawl_wait_over(), the child may count a thread too many. One
 * too few would lose a wake-up; that cannot happen before the child starts a second thread. */
static void announce(pawl_waiter *me, pawl_bucket *b, const volatile void *w)
{
    me->forks = forks;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_fetch_add_explicit(&b->parked, 1, memory_order_relaxed); /* 1 */
    atomic_fetch_add_explicit(parked_at(w), 1, memory_order_relaxed);
    me->ticket = atomic_load_explicit(&b->sequence, memory_order_relaxed);
    pawl_fence_heavy(); /* P */
    me->state = PAWL_READY;
}

/* If a signal handler that interrupted the wait has forked, this is the child, and counts nobody from before. */
static bool is_counted(const pawl_waiter *me)
{
    return me->forks == forks;
}

void pawl_park_until(pawl_waiter *me, pawl_word *w, uint32_t which, int clock,
                     const struct timespec *deadline)
{
    pawl_place p = pawl_place_of(w, which);
    if (me->state == PAWL_LOOKING || !is_counted(me)) {
        me->which = which;
        announce(me, p.bucket, w);
    } else if (me->state == PAWL_ANNOUNCED) {
        /* S: the sequence first, the word second; a post writes them the other way round */
        me->ticket = atomic_load_explicit(&p.bucket->sequence, memory_order_acquire);
        me->state = PAWL_READY;
    } else {
        /* Whatever ends the sleep (a post, a post for others, a signal, time, nothing at all), the caller looks again. */
        pawl_futex_wait_bits(&p.bucket->sequence, me->ticket, clock, deadline, p.kind);
        me->state = PAWL_ANNOUNCED;
    }
}

void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly)
{
    struct timespec soon;
    if (briefly)
        soon = pawl_from_now(CLOCK_MONOTONIC, BRIEFLY);
    pawl_park_until(me, w, which, CLOCK_MONOTONIC, briefly ? &soon : NULL);
}

void pawl_wait_over(pawl_waiter *me, pawl_word *w)
{
    me->state = PAWL_LOOKING;
    if (PAWL_UNLIKELY(!is_counted(me)))
        return;
    _Atomic(uint32_t) *parked = &pawl_place_of(w, me->which).bucket->parked;
    if (PAWL_UNLIKELY(atomic_fetch_sub_explicit(parked, 1, memory_order_relaxed) == 0))
        atomic_fetch_add_explicit(parked, 1, memory_order_relaxed);
    if (PAWL_UNLIKELY((uint32_t)atomic_fetch_sub_explicit(parked_at(w), 1, memory_order_relaxed) == 0))
        atomic_fetch_add_explicit(parked_at(w), 1, memory_order_relaxed);
}

static void wake_at(pawl_place p)
{
    if (atomic_load_explicit(&p.bucket->parked, memory_order_relaxed) == 0) /* 4 */
        return;
    atomic_fetch_add_explicit(&p.bucket->sequence, 1, memory_order_relaxed); /* S: released by the fence P */
    pawl_futex_wake_bits(&p.bucket->sequence, p.kind);
}

void pawl_unpark(const volatile void *w, uint64_t v)
{
    atomic_thread_fence(memory_order_seq_cst); /* P, if waiters cannot fence for us */
    wake_at(pawl_place_of(w, PAWL_VALUE(v)));
    wake_at(pawl_place_of(w, PAWL_ANY));
    pawl_hint_join();
}

unsigned pawl_parked_threads(void)
{
    unsigned sum = 0;
    for (int i = 0; i < ENTRIES; i++)
        sum += (uint32_t)atomic_load_explicit(&pawl_parked[i], memory_order_relaxed);
    return sum;
}

void pawl_fork_word(void)
{
    forks++;
    for (int i = 0; i < ENTRIES; i++) {
        uint64_t parked = atomic_load_explicit(&pawl_parked[i], memory_order_relaxed);
        if ((uint32_t)parked != 0) /* a write would copy the page */
            atomic_store_explicit(&pawl_parked[i], parked & FENCED, memory_order_relaxed);
    }
}
