/* timing.h - how the drivers report: results on standard output, which must not depend on the lock, and speed on
 * standard error, which may */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline double timing_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void timing_report(double began, uint64_t operations)
{
    double seconds = timing_now() - began;
    fprintf(stderr, "operations %ju seconds %.6f rate %.1f\n", (uintmax_t)operations, seconds,
            (double)operations / seconds);
}

/* The same numbers for the same seed, natively and under any lock. */
static inline uint64_t timing_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
