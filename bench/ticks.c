/* ticks.c - how fast the cheap clock is */
#include "ticks.h"

typedef struct reading {
    double ns, ticks;
} reading;

/* Both clocks at one moment: the quickest of a few readings, because a thread may lose its CPU in between. */
static reading read_both(void)
{
    enum { TRIES = 5 };
    reading best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = pawl_nanoseconds(CLOCK_MONOTONIC), at = ticks();
        uint64_t took = pawl_nanoseconds(CLOCK_MONOTONIC) - before;
        if (took >= least)
            continue;
        least = took;
        best = (reading){(double)before + (double)took / 2, (double)at};
    }
    return best;
}

double bench_ticks_per_ns(void)
{
    enum { ENOUGH_NS = 1000000 };
    reading from = read_both();
    while ((double)pawl_nanoseconds(CLOCK_MONOTONIC) - from.ns < ENOUGH_NS)
        ;
    reading to = read_both();
    return (to.ticks - from.ticks) / (to.ns - from.ns);
}
