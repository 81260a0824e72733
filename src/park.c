/* park.c - sleeping until a post, in hashed buckets
 *
 * A futex has 32 bits and the words that locks wait on 64, so a waiter sleeps on a sequence number in a
 * bucket that the word's address selects. Every post to a word with sleepers raises the number.
 *
 *   waiter                              post
 *   counts itself in the bucket   (1)   stores to the word             (3)
 *   full fence                    (P)   full fence                     (P)
 *   looks at the word, sleeps     (2)   looks for sleepers, wakes them (4)
 *
 * Without the fences both could look too early, and the waiter would sleep for ever. A post is frequent and
 * sleep is not, so the waiter pays for both: membarrier() makes every running thread of the process pass a
 * full fence, and a post contents itself with keeping the compiler from reordering. Where the kernel refuses,
 * `pawl_sleepers` is never zero, and posts take the slow path, with a fence of their own. */
#include "fork.h"
#include "park.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS      256
#define REFUSED      ((uint64_t)1 << 32) /* in pawl_sleepers: only a fence can tell */
#define PAWL_SPIN_NS 8000                /* about what it costs to sleep and to be woken */

typedef struct bucket {
    _Atomic(uint32_t) sequence;
    _Atomic(uint32_t) waiters;
} PAWL_ALIGNED bucket;

static bucket buckets[BUCKETS];
pawl_word pawl_sleepers PAWL_ALIGNED = REFUSED; /* until the constructor has asked the kernel */
static _Atomic(bool) by_membarrier;
static _Atomic(bool) refused_late; /* the kernel changed its mind, when posts already relied on it */
static _Atomic(unsigned) park_after;

static bucket *bucket_of(const volatile void *w)
{
    uint64_t hash = (uint64_t)(uintptr_t)w * 0x9E3779B97F4A7C15u;
    return &buckets[hash >> 56 & (BUCKETS - 1)];
}

/* ---- the fence */

static void fence_everyone(void)
{
    /* After the waiter counted itself with an acquire: if it came after REFUSED was taken off, it sees this. */
    if (atomic_load_explicit(&by_membarrier, memory_order_relaxed)) {
        if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
            return;
        /* A sandbox was entered, say. A post under way may miss us, so from now on nobody sleeps for long. */
        atomic_store_explicit(&refused_late, true, memory_order_relaxed);
        pawl_park_by_membarrier(false);
    }
    atomic_thread_fence(memory_order_seq_cst); /* P */
}

bool pawl_park_by_membarrier(bool wanted)
{
    int saved = errno;
    bool can = wanted && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    bool now = atomic_exchange_explicit(&by_membarrier, can, memory_order_relaxed);
    if (can && !now)
        atomic_fetch_sub_explicit(&pawl_sleepers, REFUSED, memory_order_release);
    else if (!can && now)
        atomic_fetch_add_explicit(&pawl_sleepers, REFUSED, memory_order_release);
    errno = saved;
    return can;
}

__attribute__((constructor)) static void ask_kernel(void)
{
    pawl_park_by_membarrier(getenv("PAWL_NO_MEMBARRIER") == NULL);
    pawl_fork_expect();
}

/* ---- sleeping and waking */

static void announce(pawl_waiter *me, bucket *b)
{
    atomic_fetch_add_explicit(&b->waiters, 1, memory_order_relaxed); /* 1 */
    atomic_fetch_add_explicit(&pawl_sleepers, 1, memory_order_acquire);
    me->ticket = atomic_load_explicit(&b->sequence, memory_order_relaxed);
    fence_everyone(); /* P */
    me->state = PAWL_READY;
}

/* A time to wake up at, if sleep may be missed by posts; else none. */
static const struct timespec *limit(struct timespec *soon, bool briefly)
{
    if (PAWL_LIKELY(!briefly && !atomic_load_explicit(&refused_late, memory_order_relaxed)))
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, soon);
    soon->tv_nsec += 1000000;
    if (soon->tv_nsec >= 1000000000) {
        soon->tv_nsec -= 1000000000;
        soon->tv_sec++;
    }
    return soon;
}

void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly)
{
    int saved = errno;
    bucket *b = bucket_of(w);
    if (me->state == PAWL_LOOKING) {
        announce(me, b);
    } else if (me->state == PAWL_ANNOUNCED) {
        /* S: the number first, the word second; a post writes them the other way round */
        me->ticket = atomic_load_explicit(&b->sequence, memory_order_acquire);
        me->state = PAWL_READY;
    } else {
        /* Whatever ends the sleep (a post, another's post, a signal, nothing at all), the caller looks again.
         */
        struct timespec soon;
        syscall(SYS_futex, &b->sequence, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, me->ticket,
                limit(&soon, briefly), NULL, which);
        me->state = PAWL_ANNOUNCED;
    }
    errno = saved;
}

void pawl_wait_over(pawl_waiter *me, pawl_word *w)
{
    atomic_fetch_sub_explicit(&bucket_of(w)->waiters, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&pawl_sleepers, 1, memory_order_relaxed);
    me->state = PAWL_LOOKING;
}

void pawl_wake_sleepers(const volatile void *w, uint64_t v)
{
    bucket *b = bucket_of(w);
    if (!atomic_load_explicit(&by_membarrier, memory_order_relaxed))
        atomic_thread_fence(memory_order_seq_cst);                    /* P */
    if (atomic_load_explicit(&b->waiters, memory_order_relaxed) == 0) /* 4 */
        return;
    int saved = errno;
    atomic_fetch_add_explicit(&b->sequence, 1, memory_order_release); /* S */
    syscall(SYS_futex, &b->sequence, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL,
            PAWL_VALUE(v) | PAWL_ANY);
    errno = saved;
}

void pawl_fork_park(void)
{
    uint64_t sleepers = atomic_load_explicit(&pawl_sleepers, memory_order_relaxed);
    if ((sleepers & ~REFUSED) == 0)
        return; /* nobody slept, and nobody was counted */
    for (int i = 0; i < BUCKETS; i++)
        atomic_store_explicit(&buckets[i].waiters, 0, memory_order_relaxed);
    atomic_store_explicit(&pawl_sleepers, sleepers & REFUSED, memory_order_relaxed);
}

/* ---- how long to look */

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A PAUSE is 4 cycles on one machine and 140 on another. The fastest of a few tries is the one that nobody
 * interrupted. */
static unsigned measure(void)
{
    uint64_t best = UINT64_MAX;
    for (int try = 0; try < 4; try++) {
        uint64_t start = nanoseconds();
        for (int i = 0; i < 64; i++)
            pawl_pause();
        uint64_t took = nanoseconds() - start;
        best = took < best ? took : best;
    }
    uint64_t looks = PAWL_SPIN_NS * 64 / (best + 1);
    return (unsigned)(looks < PAWL_SPINS ? PAWL_SPINS : looks > 100000 ? 100000 : looks);
}

void pawl_set_park_after(unsigned looks)
{
    atomic_store_explicit(&park_after, looks, memory_order_relaxed);
}

unsigned pawl_park_after(void)
{
    unsigned looks = atomic_load_explicit(&park_after, memory_order_relaxed);
    if (PAWL_UNLIKELY(looks == 0))
        pawl_set_park_after(looks = measure());
    return looks;
}
