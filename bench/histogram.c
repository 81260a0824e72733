/* histogram.c - what is read from a histogram after the measurement */
#include "histogram.h"

#include <math.h>

void histogram_merge(histogram *h, const histogram *from)
{
    h->total += from->total;
    h->most = from->most > h->most ? from->most : h->most;
    for (uint32_t i = 0; i < HISTOGRAM_COUNTERS; i++)
        h->counts[i] += from->counts[i];
}

static uint64_t upper_end(uint32_t index)
{
    if (index < 2u << HISTOGRAM_BITS)
        return index;
    uint32_t shift = (index >> HISTOGRAM_BITS) - 1;
    uint64_t mantissa = index - (shift << HISTOGRAM_BITS);
    return ((mantissa + 1) << shift) - 1;
}

uint64_t histogram_quantile(const histogram *h, double part)
{
    uint64_t wanted = (uint64_t)ceil(part * (double)h->total), seen = 0;
    wanted = wanted > 0 ? wanted : 1;
    for (uint32_t i = 0; i < HISTOGRAM_COUNTERS; i++) {
        seen += h->counts[i];
        if (seen >= wanted)
            return i < HISTOGRAM_COUNTERS - 1 && upper_end(i) < h->most ? upper_end(i) : h->most;
    }
    return h->most;
}
