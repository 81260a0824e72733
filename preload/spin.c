/* spin.c - pthread_spin_*: spins for a while, then sleeps
 *
 *   FREE, HELD              ours; the two highest bits say so
 *   FREE, HELD | COUNTED    the same, with statistics: takes no fast path
 *   all else                glibc's: a process-shared one, or one that nobody initialised
 *
 * With more threads than CPUs, a thread that only spins keeps the owner from running. As everywhere in Pawl the sleeper
 * pays for its wake-up: unlock is a store and a load of a word that nobody writes. The same in every library.
 */
#include "preload/fork/epoch.h"
#include "glibc.h"
#include "preload/mutex/slow.h"
#include "preload/stats/quick.h"

#include "src/park/pause.h"
#include "src/park/word.h"

#include <errno.h>

#define FREE    ((uint32_t)1 << 30)
#define HELD    (FREE | 1)
#define COUNTED 2
#define SITE    __builtin_return_address(0)

/* Nanoseconds of spinning, and the most pauses between two reads. */
enum { SPIN = 8000, STEP_MOST = 16 };

typedef _Atomic(uint32_t) word;

static word *word_in(pthread_spinlock_t *s)
{
    return (word *)s;
}

static inline bool try_acquire(word *w, uint32_t counted)
{
    uint32_t free = FREE | counted;
    return atomic_compare_exchange_strong_explicit(
        w, &free, HELD | counted, memory_order_acquire,
        memory_order_relaxed); /* A: sees all the last owner wrote */
}

static uint32_t value_of(word *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}

/* Whether a lock of another kind, COUNTED or glibc's, was ever locked here. Until then unlock need not read the lock,
 * which would cost more than the rest of it. */
static _Atomic(bool) others;

static void note_others(void)
{
    if (!atomic_load_explicit(&others, memory_order_relaxed))
        atomic_store_explicit(&others, true, memory_order_relaxed);
}

static bool spin(word *w, uint32_t counted)
{
    uint32_t left = pawl_pauses(SPIN), step = 1;
    while (left > 0) {
        step = step < left ? step : left;
        for (uint32_t i = 0; i < step; i++)
            pawl_pause();
        left -= step;
        if (value_of(w) == (FREE | counted) && try_acquire(w, counted))
            return true;
        if (step < STEP_MOST)
            step *= 2;
    }
    return false;
}

/* For a millisecond at a time: the owner may be another process, even if the lock was not declared shared. */
static void park_until_acquired(word *w, uint32_t counted)
{
    pawl_waiter me = PAWL_WAITER;
    pawl_word *where = (pawl_word *)w; /* an address, not read */
    while (!try_acquire(w, counted))
        pawl_park(&me, where, PAWL_ANY, true);
    pawl_wait_end(&me, where);
}

/* For a thread that may be cancelled at any instruction, and so must be in no queue. */
static void poll_until_acquired(word *w, uint32_t counted)
{
    static const struct timespec nap = {0, 50000};
    int before = errno;
    while (!try_acquire(w, counted))
        nanosleep(&nap, NULL);
    errno = before;
}

static void acquire(word *w, uint32_t counted)
{
    epoch_now();
    if (!spin(w, counted))
        (self.async ? poll_until_acquired : park_until_acquired)(w, counted);
}

static bool is_ours(uint32_t value)
{
    return value >> 30 == 1;
}

/* Of a known epoch: after a fork, the tables are the parent's until then. The row tells that this process, or the one it was forked
 * from, has noted the others. */
__attribute__((always_inline)) static inline bool lock_quickly(word *w, const void *site)
{
    stats_row *row = epoch_is_known() ? stats_quick_row(w, STATS_SPIN) : NULL;
    if (PAWL_UNLIKELY(row == NULL) || !stats_is_quiet(row) || PAWL_UNLIKELY(!try_acquire(w, COUNTED)))
        return false;
    stats_quick_acquired(row, site);
    return true;
}

static void ask(stats_call *call, word *w, const void *site)
{
    note_others();
    epoch_now();
    stats_ask(call, w, STATS_SPIN, site);
}

__attribute__((noinline)) static int lock_and_tell(word *w, const void *site)
{
    stats_call call;
    ask(&call, w, site);
    if (!try_acquire(w, COUNTED)) {
        stats_wait_begin(&call);
        acquire(w, COUNTED);
    }
    stats_acquired(&call);
    return 0;
}

__attribute__((noinline)) static int lock_slowly(pthread_spinlock_t *s, const void *site)
{
    word *w = word_in(s);
    uint32_t value = value_of(w);
    if (!is_ours(value)) {
        note_others();
        return glibc()->spin_lock(s);
    }
    if (value & COUNTED)
        return lock_quickly(w, site) ? 0 : lock_and_tell(w, site);
    acquire(w, 0);
    return 0;
}

__attribute__((noinline)) static int try_and_tell(word *w, const void *site)
{
    stats_call call;
    ask(&call, w, site);
    if (!try_acquire(w, COUNTED)) {
        stats_refused(&call);
        return EBUSY;
    }
    stats_acquired(&call);
    return 0;
}

__attribute__((noinline)) static int trylock_slowly(pthread_spinlock_t *s, const void *site)
{
    word *w = word_in(s);
    uint32_t value = value_of(w);
    if (!is_ours(value)) {
        note_others();
        return glibc()->spin_trylock(s);
    }
    if (!(value & COUNTED))
        return EBUSY;
    return lock_quickly(w, site) ? 0 : try_and_tell(w, site);
}

static inline void release(word *w, uint32_t counted)
{
    atomic_store_explicit(w, FREE | counted, memory_order_release); /* A: publishes the critical section */
    pawl_wake((pawl_word *)w, 0);
}

__attribute__((noinline)) static int tell_and_release(word *w)
{
    epoch_now();
    stats_released(w, STATS_SPIN);
    release(w, COUNTED);
    return 0;
}

__attribute__((noinline)) static int unlock_slowly(pthread_spinlock_t *s)
{
    word *w = word_in(s);
    uint32_t value = value_of(w);
    if (!is_ours(value))
        return glibc()->spin_unlock(s);
    if (value & COUNTED) {
        stats_row *row = epoch_is_known() ? stats_quick_row(w, STATS_SPIN) : NULL;
        if (PAWL_UNLIKELY(row == NULL) || !stats_quick_released(row))
            return tell_and_release(w);
    }
    release(w, value & COUNTED);
    return 0;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int shared)
{
    if (shared == PTHREAD_PROCESS_SHARED)
        return glibc()->spin_init(s, shared);
    atomic_store_explicit(word_in(s), FREE | (stats_on ? COUNTED : 0), memory_order_relaxed);
    return 0;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
    (void)s; /* nor does glibc do anything */
    return 0;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
    return PAWL_LIKELY(try_acquire(word_in(s), 0)) ? 0 : lock_slowly(s, SITE);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
    return PAWL_LIKELY(try_acquire(word_in(s), 0)) ? 0 : trylock_slowly(s, SITE);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
    word *w = word_in(s);
    if (PAWL_UNLIKELY(atomic_load_explicit(&others, memory_order_relaxed)) && value_of(w) != HELD)
        return unlock_slowly(s);
    release(w, 0);
    return 0;
}

OF_LIBPTHREAD(pthread_spin_init);
OF_LIBPTHREAD(pthread_spin_destroy);
OF_LIBPTHREAD(pthread_spin_lock);
OF_LIBPTHREAD(pthread_spin_trylock);
OF_LIBPTHREAD(pthread_spin_unlock);
