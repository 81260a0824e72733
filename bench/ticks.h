/* ticks.h - a clock that is cheap enough to be read inside the measured loop
 *
 * The unit is the machine's. Results are scaled by this clock and CLOCK_MONOTONIC at both ends of the measurement (see
 * team.c). What must be known before, such as how long a section is to take, goes by bench_ticks_per_ns().
 */
#pragma once

#include "../src/park/clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ticks.c: takes a millisecond. */
double bench_ticks_per_ns(void);

#ifdef __cplusplus
}
#endif

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return pawl_nanoseconds(CLOCK_MONOTONIC);
#endif
}
