/* ticks.h - a clock that is cheap enough to be read inside the measured loop
 *
 * The unit is the machine's. Whoever needs nanoseconds reads this clock and CLOCK_MONOTONIC at both ends of
 * the measurement and scales (see team.c), so that nothing has to be calibrated beforehand.
 */
#pragma once

#include "../src/park/clock.h"

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
