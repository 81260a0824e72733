/* histogram.h - counts of values from 0 to 2^40 within 1 %, in the layout of HdrHistogram (Tene 2012)
 *
 * Below 256 a value has a counter of its own. Above, every power of two has 128 counters, so that a counter's width is
 * never more than 1/128 of its values. Adding is a shift and an increment, cheap enough for the measured loop.
 */
#pragma once

#include <stdint.h>

enum {
    HISTOGRAM_BITS = 7, /* 2^7 counters for every power of two */
    HISTOGRAM_POWERS = 40,
    HISTOGRAM_COUNTERS = (HISTOGRAM_POWERS - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS,
};

typedef struct histogram {
    uint64_t total, most;
    uint64_t counts[HISTOGRAM_COUNTERS];
} histogram;

static inline uint32_t histogram_index(uint64_t value)
{
    if (value >> HISTOGRAM_POWERS != 0)
        return HISTOGRAM_COUNTERS - 1;
    if (value >> (HISTOGRAM_BITS + 1) == 0)
        return (uint32_t)value;
    uint32_t shift = 63 - HISTOGRAM_BITS - (uint32_t)__builtin_clzll(value);
    return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline void histogram_add(histogram *h, uint64_t value)
{
    h->total++;
    h->most = value > h->most ? value : h->most;
    h->counts[histogram_index(value)]++;
}

/* Adds all of `from`. */
void histogram_merge(histogram *h, const histogram *from);

/* The least value that is not exceeded by at least this share of all values, as exactly as the counters tell: the
 * upper end of its counter, and never more than the largest value. 0 if there are none. */
uint64_t histogram_quantile(const histogram *h, double part);
