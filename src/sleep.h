/* sleep.h - sleeping on a word, time, and the barrier that a sleeper pays for those that release
 *
 * Nothing here changes errno.
 */
#pragma once

#include <pawl/atomic.h>

#include <time.h>

/* Sleeps while the word holds `value`, until woken, or for no reason. A null deadline is no deadline.
 * Returns ETIMEDOUT if the time has come, else 0. */
int pawl_futex_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline);

/* Wakes one that sleeps there. The memory may be gone. */
void pawl_futex_wake(_Atomic(uint32_t) *word);

/* EINVAL if no clock or no time is meant by these, else 0. */
int pawl_deadline_check(int clock, const struct timespec *deadline);

static inline bool pawl_is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* CLOCK_MONOTONIC in units of 1024 ns, modulo 2^32. */
uint32_t pawl_ticks(void);

/* So many pauses take about that long; 0 if there is but one CPU. Measures a pause when first called. */
uint32_t pawl_pauses(uint32_t nanoseconds);

/* Orders what came before against what comes after, for this thread and for all others: with respect to the
 * last look in pawl_mutex_release(), which has no fence of its own. */
void pawl_sleeper_barrier(void);

/* For tests: without it, as on a kernel that has no membarrier; false if it is not to be had. Only while
 * nobody waits. */
bool pawl_use_membarrier(bool use);
