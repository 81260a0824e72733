/* broken.c - a lock that does not lock, in the place of the peers: the replay must notice */
#include "bench/loops.h"

/* As much as any lock keeps the compiler from doing, and no more. */
static inline void let_pass(int *l)
{
    __asm__ volatile("" : "+m"(*l)::"memory");
}

BENCH_PLAIN(broken, int, let_pass, let_pass)
BENCH_NO_INIT(broken)
BENCH_NO_DESTROY(broken)
BENCH_LOOPS(broken)

extern const bench_lock bench_set_broken[];
const bench_lock bench_set_broken[] = {
    BENCH_LOCK(broken, "broken", true, BENCH_SPINS),
    BENCH_END,
};
