/* queue.c - the table of buckets, and queues of waiters in it */
#include "futex.h"
#include "queue.h"

#include "../fork.h"
#include "../reentry.h"

#include <pawl/detail/wait.h>

static pawl_bucket buckets[1 << PAWL_BUCKET_BITS];

/* ---- the lock of a bucket
 *
 * Held for a few instructions, and a cache miss for each on a large machine. A thread that finds it taken spins for some
 * microseconds, because an owner of the mutex would sleep with the mutex in its hands; no longer, because the bucket's
 * owner may have lost the CPU, under real-time scheduling to this very thread. */

enum { FREE, HELD, SLEPT_ON };

#ifndef PAWL_BUCKET_LOOKS
#define PAWL_BUCKET_LOOKS 200 /* before sleeping */
#endif

static bool take(pawl_bucket *b)
{
    uint32_t free = FREE;
    return atomic_compare_exchange_strong_explicit(&b->lock, &free, HELD, memory_order_acquire,
                                                   memory_order_relaxed); /* C */
}

static void take_slowly(pawl_bucket *b)
{
    for (int i = 0; i < PAWL_BUCKET_LOOKS; i++) {
        pawl_pause();
        if (atomic_load_explicit(&b->lock, memory_order_relaxed) == FREE && take(b))
            return;
    }
    while (atomic_exchange_explicit(&b->lock, SLEPT_ON, memory_order_acquire) != FREE) /* C */
        pawl_futex_wait(&b->lock, SLEPT_ON, 0, NULL);
}

void pawl_bucket_unlock(pawl_bucket *b)
{
    if (PAWL_UNLIKELY(pawl_reentry_has_forked()))
        b->queues = NULL;
    /* C: publishes the bucket, and what was done to objects under its lock */
    if (PAWL_UNLIKELY(atomic_exchange_explicit(&b->lock, FREE, memory_order_release) == SLEPT_ON))
        pawl_futex_wake(&b->lock);
    pawl_reentry_end();
}

pawl_bucket *pawl_bucket_at(unsigned index)
{
    return &buckets[index];
}

pawl_bucket *pawl_bucket_of(const volatile void *key)
{
    return pawl_bucket_at(pawl_hash(pawl_address(key), PAWL_BUCKET_BITS));
}

pawl_bucket *pawl_bucket_lock(const volatile void *key)
{
    pawl_bucket *b = pawl_bucket_of(key);
    pawl_reentry_begin(b);
    if (PAWL_UNLIKELY(!take(b)))
        take_slowly(b);
    return b;
}

pawl_bucket *pawl_bucket_trylock(const volatile void *key)
{
    pawl_bucket *b = pawl_bucket_of(key);
    pawl_reentry_begin(b);
    if (PAWL_LIKELY(take(b)))
        return b;
    pawl_reentry_end();
    return NULL;
}

/* ---- queues */

static uint64_t key_of(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->key, memory_order_relaxed);
}

/* The pointer to this key's first waiter, or the null at the end of the list. */
static pawl_sleeper **find(pawl_bucket *b, uint64_t key)
{
    pawl_sleeper **at = &b->queues;
    while (*at != NULL && key_of(*at) != key)
        at = &(*at)->other;
    return at;
}

pawl_sleeper *pawl_queue_first(pawl_bucket *b, const volatile void *key)
{
    return *find(b, pawl_address(key));
}

static void join(pawl_sleeper *first, pawl_sleeper *at, pawl_sleeper *w)
{
    atomic_store_explicit(&w->key, key_of(first), memory_order_relaxed);
    w->before = at;
    w->next = at->next;
    if (at->next != NULL)
        at->next->before = w;
    else
        first->last = w;
    at->next = w;
    first->length++;
}

void pawl_queue_append(pawl_bucket *b, const volatile void *key, pawl_sleeper *w)
{
    pawl_sleeper **at = find(b, pawl_address(key));
    if (*at != NULL) {
        join(*at, (*at)->last, w);
        return;
    }
    atomic_store_explicit(&w->key, pawl_address(key), memory_order_relaxed);
    w->before = NULL;
    w->next = NULL;
    w->other = NULL;
    w->last = w;
    w->length = 1;
    *at = w;
}

void pawl_queue_insert(pawl_bucket *b, pawl_sleeper *at, pawl_sleeper *w)
{
    join(*find(b, key_of(at)), at, w);
}

void pawl_queue_remove(pawl_bucket *b, pawl_sleeper *w)
{
    pawl_sleeper **at = find(b, key_of(w));
    pawl_sleeper *first = *at, *next = w->next;
    if (PAWL_UNLIKELY(first == NULL))
        return; /* a signal handler has forked, and this is the child: see pawl_fork_queue() */
    first->length--;
    if (next != NULL)
        next->before = w->before;
    if (w != first) {
        w->before->next = next;
        if (next == NULL)
            first->last = w->before;
        return;
    }
    if (next == NULL) {
        *at = w->other;
        return;
    }
    next->last = w->last;
    next->other = w->other;
    next->length = w->length;
    *at = next;
}

pawl_sleeper *pawl_queue_detach(pawl_bucket *b, const volatile void *key)
{
    pawl_sleeper **at = find(b, pawl_address(key));
    pawl_sleeper *first = *at;
    if (first != NULL)
        *at = first->other;
    return first;
}

void pawl_fork_queue(void)
{
    for (int i = 0; i < 1 << PAWL_BUCKET_BITS; i++) {
        pawl_bucket *b = &buckets[i];
        if (atomic_load_explicit(&b->lock, memory_order_relaxed) != FREE) /* a write would copy the page */
            atomic_store_explicit(&b->lock, FREE, memory_order_relaxed);
        if (atomic_load_explicit(&b->parked, memory_order_relaxed) != 0) {
            atomic_store_explicit(&b->parked, 0, memory_order_relaxed);
            /* If a handler forks, the thread that it interrupted must look again: nobody would wake it. */
            atomic_fetch_add_explicit(&b->sequence, 1, memory_order_relaxed);
        }
        if (b->queues != NULL)
            b->queues = NULL;
    }
}

/* Before other constructors: see fork.h. A program's own may have the priority 101, and a static program's objects come
 * before the library's. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor" /* up to 100 they are the implementation's, as here */
__attribute__((constructor(100))) static void expect_forks(void)
{
    pawl_fork_expect();
}
