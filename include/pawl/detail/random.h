/* random.h - random numbers for the locks that toss a coin */
#pragma once

#include "slice.h"

PAWL_SLICE(random, uint64_t, .child = PAWL_KEPT);

/* Marsaglia's 64-bit xorshift: enough to break up a schedule, and a handful of instructions. */
static inline uint64_t pawl_random(void)
{
    uint64_t x = pawl_random_self;
    if (PAWL_UNLIKELY(x == 0))
        x = pawl_address(&pawl_random_self) * 0x9E3779B97F4A7C15u | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return pawl_random_self = x;
}

/* True once in `n` on average. */
static inline bool pawl_one_in(uint32_t n)
{
    return (uint32_t)(((pawl_random() >> 32) * n) >> 32) == 0;
}
