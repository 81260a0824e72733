/* generator.h - xoroshiro128+ (Blackman & Vigna 2018), the papers' unit of work
 *
 * A step is a handful of dependent instructions on two words. Two threads that take a step at once lose one
 * of the two, so a shared generator also shows whether a lock excluded: a replay must reach the same state.
 */
#pragma once

#include <stdint.h>

typedef struct generator {
    uint64_t s0, s1;
} generator;

static inline uint64_t generator_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t generator_next(generator *g)
{
    uint64_t s0 = g->s0, s1 = g->s1 ^ g->s0;
    uint64_t value = s0 + g->s1;
    g->s0 = generator_rotate(s0, 24) ^ s1 ^ s1 << 16;
    g->s1 = generator_rotate(s1, 37);
    return value;
}

static inline void generator_advance(generator *g, uint64_t steps)
{
    while (steps-- > 0)
        generator_next(g);
}

/* Any seed will do: the odd constant keeps the state from being all zero. */
static inline generator generator_from(uint64_t seed)
{
    generator g = {seed * 0x9e3779b97f4a7c15u, 0x2545f4914f6cdd1du};
    generator_advance(&g, 16);
    return g;
}
