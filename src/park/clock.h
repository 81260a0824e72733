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

/* That many nanoseconds from now; less than a second. */
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

/* Nanoseconds until the deadline; 0 if it has passed, INT64_MAX if it is years away. */
static inline int64_t pawl_left(int clock, const struct timespec *deadline)
{
    enum { YEAR = 31536000 };
    struct timespec now;
    clock_gettime(clock, &now);
    if (!pawl_is_before(&now, deadline))
        return 0;
    int64_t seconds = deadline->tv_sec - now.tv_sec;
    return seconds > YEAR ? INT64_MAX : seconds * PAWL_SECOND + (deadline->tv_nsec - now.tv_nsec);
}

/* Nanoseconds in ticks. */
#define PAWL_TICKS(nanoseconds) ((nanoseconds) >> 10)

/* CLOCK_MONOTONIC in ticks of 1024 ns, modulo 2^32. */
static inline uint32_t pawl_ticks(void)
{
    return (uint32_t)(pawl_nanoseconds(CLOCK_MONOTONIC) >> 10);
}
