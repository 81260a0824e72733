/* generator.h - the papers' check of mutual exclusion
 *
 * Two generators that only the lock protects. After n critical sections they must be where n steps of a
 * single thread lead: a lost, a doubled or a torn step shows, and no later step can hide it.
 */
#pragma once

#include "team.h"

typedef struct generator {
    uint64_t s[2]; /* xoroshiro128+ */
    uint64_t x;    /* xorshift64    */
    size_t steps;
} generator;

#define GENERATOR_START                                                                                      \
    (generator)                                                                                              \
    {                                                                                                        \
        .s = {0x9E3779B97F4A7C15u, 0xD1B54A32D192ED03u}, .x = 0x2545F4914F6CDD1Du, .steps = 0                \
    }

static inline uint64_t rotate_left(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static inline generator generator_next(generator g)
{
    uint64_t s1 = g.s[1] ^ g.s[0];
    g.s[0] = rotate_left(g.s[0], 24) ^ s1 ^ (s1 << 16);
    g.s[1] = rotate_left(s1, 37);
    draw(&g.x);
    g.steps++;
    return g;
}

/* One critical section. Now and then it gives the CPU away halfway, so that an intruder would get in. */
static inline void generator_step(generator *g)
{
    generator next = generator_next(*g);
    if (next.x % 64 == 0)
        sched_yield();
    *g = next;
}

static inline void generator_check(const generator *g, size_t steps, const char *where)
{
    generator replay = GENERATOR_START;
    for (size_t i = 0; i < steps; i++)
        replay = generator_next(replay);
    CHECK(g->steps == steps, "%s: %zu of %zu critical sections counted", where, g->steps, steps);
    CHECK(g->s[0] == replay.s[0] && g->s[1] == replay.s[1] && g->x == replay.x,
          "%s: the generators are not where %zu steps lead", where, steps);
}
