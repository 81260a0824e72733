/* sleep.h - sleeping on a word, and time
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

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t pawl_nanoseconds(void);

/* The same in units of 1024 ns, modulo 2^32; and what so many nanoseconds are in these. */
static inline uint32_t pawl_ticks(void)
{
    return (uint32_t)(pawl_nanoseconds() >> 10);
}
#define PAWL_TICKS(nanoseconds) ((nanoseconds) >> 10)

static inline struct timespec pawl_timespec(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000),
                             .tv_nsec = (long)(nanoseconds % 1000000000)};
}

/* Nanoseconds until then; not more than 0 if it is over. */
int64_t pawl_left(int clock, const struct timespec *deadline);

/* So many pauses take about that long; 0 if there is but one CPU. Measures a pause when first called. */
uint32_t pawl_pauses(uint32_t nanoseconds);
