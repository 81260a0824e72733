/* clock.h - points in time, as the kernel takes them and as numbers */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PAWL_SECOND = 1000000000 }; /* in nanoseconds */

static inline uint64_t pawl_nanoseconds(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * PAWL_SECOND + (uint64_t)now.tv_nsec;
}

/* So many nanoseconds from now; less than a second. */
static inline struct timespec pawl_from_now(int clock, long nanoseconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += nanoseconds;
    if (t.tv_nsec >= PAWL_SECOND) {
        t.tv_nsec -= PAWL_SECOND;
        t.tv_sec++;
    }
    return t;
}

static inline bool pawl_is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* CLOCK_MONOTONIC in units of 1024 ns, modulo 2^32. */
static inline uint32_t pawl_ticks(void)
{
    return (uint32_t)(pawl_nanoseconds(CLOCK_MONOTONIC) >> 10);
}
