/* word.c - parking on a word of any lock
 *
 * A futex has 32 bits and the words that locks wait on 64, so a thread sleeps on a sequence number in the bucket of the
 * word. Every post to a word with sleepers raises the number.
 *
 *   waiter                                     post
 *   counts itself, bucket and pawl_parked (1)  stores to the word                    (3)
 *   pawl_fence_heavy()                    (P)  light side of the fence               (P)
 *   looks at the word, sleeps             (2)  looks at pawl_parked, wakes its bucket (4)
 */
#include "fence.h"
#include "futex.h"
#include "queue.h"
#include "word.h"

#include "../fork.h"

#define FENCED ((uint64_t)1 << 32) /* in pawl_parked: only a fence can tell */

enum { BRIEFLY = 1000000, ENTRIES = 1 << PAWL_PARKED_BITS };

pawl_word pawl_parked[ENTRIES] PAWL_ALIGNED;

static pawl_word *parked_at(const volatile void *w)
{
    return &pawl_parked[pawl_parked_at(w)];
}

void pawl_parked_fence(bool fence)
{
    for (int i = 0; i < ENTRIES; i++)
        if (fence)
            atomic_fetch_or_explicit(&pawl_parked[i], FENCED, memory_order_seq_cst);
        else
            atomic_fetch_and_explicit(&pawl_parked[i], ~FENCED, memory_order_seq_cst);
}

static void announce(pawl_waiter *me, pawl_bucket *b, const volatile void *w)
{
    atomic_fetch_add_explicit(&b->parked, 1, memory_order_relaxed); /* 1 */
    atomic_fetch_add_explicit(parked_at(w), 1, memory_order_relaxed);
    me->ticket = atomic_load_explicit(&b->sequence, memory_order_relaxed);
    pawl_fence_heavy(); /* P */
    me->state = PAWL_READY;
}

/* Whatever ends the sleep (a post, another's post, a signal, nothing at all), the caller looks again. */
static void sleep_in(pawl_bucket *b, uint32_t ticket, uint32_t which, bool briefly)
{
    struct timespec soon;
    if (briefly)
        soon = pawl_from_now(CLOCK_MONOTONIC, BRIEFLY);
    pawl_futex_wait_bits(&b->sequence, ticket, CLOCK_MONOTONIC, briefly ? &soon : NULL, which);
}

void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly)
{
    pawl_bucket *b = pawl_bucket_of(w);
    if (me->state == PAWL_LOOKING) {
        announce(me, b, w);
    } else if (me->state == PAWL_ANNOUNCED) {
        /* S: the number first, the word second; a post writes them the other way round */
        me->ticket = atomic_load_explicit(&b->sequence, memory_order_acquire);
        me->state = PAWL_READY;
    } else {
        sleep_in(b, me->ticket, which, briefly);
        me->state = PAWL_ANNOUNCED;
    }
}

void pawl_wait_over(pawl_waiter *me, pawl_word *w)
{
    atomic_fetch_sub_explicit(&pawl_bucket_of(w)->parked, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(parked_at(w), 1, memory_order_relaxed);
    me->state = PAWL_LOOKING;
}

void pawl_unpark(const volatile void *w, uint64_t v)
{
    pawl_bucket *b = pawl_bucket_of(w);
    atomic_thread_fence(memory_order_seq_cst); /* P, where waiters cannot do it for us */
    if (atomic_load_explicit(&b->parked, memory_order_relaxed) == 0) /* 4 */
        return;
    atomic_fetch_add_explicit(&b->sequence, 1, memory_order_release); /* S */
    pawl_futex_wake_bits(&b->sequence, PAWL_VALUE(v) | PAWL_ANY);
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
    for (int i = 0; i < ENTRIES; i++) {
        uint64_t parked = atomic_load_explicit(&pawl_parked[i], memory_order_relaxed);
        if ((uint32_t)parked != 0) /* a write would copy the page */
            atomic_store_explicit(&pawl_parked[i], parked & FENCED, memory_order_relaxed);
    }
}
