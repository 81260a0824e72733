/* mersenne.h - MT19937 (Matsumoto & Nishimura 1998), the unit of work of std::mt19937 in three of the papers
 *
 * One step in 624 renews the whole state, as in the C++ library, so a step costs a few nanoseconds and now and then
 * a microsecond. Like the other generator, a shared one shows whether a lock excluded; where it did not, the steps
 * are wrong, but stay within the state.
 */
#pragma once

#include <stdint.h>

enum { MERSENNE_WORDS = 624, MERSENNE_SHIFT = 397 };

typedef struct mersenne {
    uint32_t state[MERSENNE_WORDS];
    uint32_t next;
    uint32_t last; /* the last step's result: the compiler cannot leave the steps out */
} mersenne;

static inline void mersenne_seed(mersenne *m, uint32_t seed)
{
    m->state[0] = seed;
    for (uint32_t i = 1; i < MERSENNE_WORDS; i++)
        m->state[i] = 1812433253u * (m->state[i - 1] ^ m->state[i - 1] >> 30) + i;
    m->next = MERSENNE_WORDS;
    m->last = 0;
}

/* Out of line: it is rare, and would fill the loops that take single steps. */
static __attribute__((noinline, unused)) void mersenne_renew(mersenne *m)
{
    for (uint32_t i = 0; i < MERSENNE_WORDS; i++) {
        uint32_t y = (m->state[i] & 0x80000000u) | (m->state[(i + 1) % MERSENNE_WORDS] & 0x7fffffffu);
        uint32_t twist = y & 1 ? 0x9908b0dfu : 0;
        m->state[i] = m->state[(i + MERSENNE_SHIFT) % MERSENNE_WORDS] ^ y >> 1 ^ twist;
    }
    m->next = 0;
}

static inline uint32_t mersenne_next(mersenne *m)
{
    uint32_t at = m->next; /* read once: another thread may be inside */
    if (at >= MERSENNE_WORDS) {
        mersenne_renew(m);
        at = 0;
    }
    m->next = at + 1;
    uint32_t y = m->state[at];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return m->last = y ^ y >> 18;
}

static inline void mersenne_advance(mersenne *m, uint64_t steps)
{
    while (steps-- > 0)
        mersenne_next(m);
}
