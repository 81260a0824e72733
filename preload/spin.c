/* spin.c - pthread_spin_*: spins for a while, then sleeps
 *
 *   FREE, HELD   ours; the two highest bits say so
 *   all else     glibc's: a process-shared one, or one that nobody initialised
 *
 * With more threads than CPUs, whoever spins keeps the owner from running. As everywhere in Pawl the one that goes to
 * sleep pays: unlock is a store and a look at a word that nobody writes. Whatever the library's lock is.
 */
#include "era.h"
#include "glibc.h"
#include "mutex.h"
#include "stats.h"

#include "src/park.h"
#include "src/sleep.h"

#include <errno.h>

#define FREE ((uint32_t)1 << 30)
#define HELD (FREE | 1)

/* Nanoseconds of spinning, and the most pauses between two looks. */
enum { SPIN = 8000, STEP_MOST = 16 };

typedef _Atomic(uint32_t) word;

static word *word_in(pthread_spinlock_t *s)
{
    return (word *)s;
}

static inline bool take(word *w)
{
    uint32_t free = FREE;
    return atomic_compare_exchange_strong_explicit(
        w, &free, HELD, memory_order_acquire, memory_order_relaxed); /* A: sees all the last owner wrote */
}

static uint32_t value_of(word *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}

static bool spin(word *w)
{
    uint32_t step = 1;
    for (uint32_t left = pawl_pauses(SPIN); left > 0; left -= step) {
        step = step < left ? step : left;
        for (uint32_t i = 0; i < step; i++)
            pawl_pause();
        if (value_of(w) == FREE && take(w))
            return true;
        if (step < STEP_MOST)
            step *= 2;
    }
    return false;
}

static void sleep_for(word *w)
{
    pawl_waiter me = PAWL_WAITER;
    pawl_word *where = (pawl_word *)w; /* an address, not read */
    while (!take(w))
        pawl_park(&me, where, PAWL_ANY);
    pawl_wait_end(&me, where);
}

static int lock_slowly(pthread_spinlock_t *s)
{
    word *w = word_in(s);
    if (value_of(w) >> 30 != 1)
        return glibc()->spin_lock(s);
    era_now();
    if (!spin(w))
        sleep_for(w);
    return 0;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int shared)
{
    if (shared == PTHREAD_PROCESS_SHARED)
        return glibc()->spin_init(s, shared);
    atomic_store_explicit(word_in(s), FREE, memory_order_relaxed);
    return 0;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
    return value_of(word_in(s)) >> 30 != 1 ? glibc()->spin_destroy(s) : 0;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
    return PAWL_LIKELY(take(word_in(s))) ? 0 : lock_slowly(s);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
    if (PAWL_LIKELY(take(word_in(s))))
        return 0;
    return value_of(word_in(s)) >> 30 != 1 ? glibc()->spin_trylock(s) : EBUSY;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
    word *w = word_in(s);
    if (PAWL_UNLIKELY(value_of(w) >> 30 != 1))
        return glibc()->spin_unlock(s);
    atomic_store_explicit(w, FREE, memory_order_release); /* A: publishes the critical section */
    pawl_wake((pawl_word *)w, 0);
    return 0;
}
