/* three_state.c - a mutex of three states over a futex, as glibc's default one is at its core
 *
 * U. Drepper, "Futexes Are Tricky" (2011), mutex 3: free, held, held with sleepers. No spinning: a thread that finds it
 * held says that it sleeps, and does.
 */
#include "bench/queue.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, HELD, SLEPT_ON };

typedef struct three_state {
    uint32_t state;
} three_state;

static __attribute__((noinline)) void take_slowly(three_state *l)
{
    while (__atomic_exchange_n(&l->state, SLEPT_ON, __ATOMIC_ACQUIRE) != FREE)
        syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, SLEPT_ON, NULL, NULL, 0);
}

static inline void three_state_lock(three_state *l)
{
    uint32_t free = FREE;
    if (!__atomic_compare_exchange_n(&l->state, &free, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        take_slowly(l);
}

static inline void three_state_unlock(three_state *l)
{
    if (__atomic_exchange_n(&l->state, FREE, __ATOMIC_RELEASE) == SLEPT_ON)
        syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

BENCH_PLAIN(three_state, three_state, three_state_lock, three_state_unlock)
BENCH_NO_INIT(three_state) /* all-zero is unlocked */
BENCH_NO_DESTROY(three_state)
BENCH_LOOPS(three_state)

extern const bench_lock bench_set_three_state[];
const bench_lock bench_set_three_state[] = {
    BENCH_LOCK(three_state, "three_state", true, BENCH_SLEEPS),
    BENCH_END,
};

extern const bench_queue bench_queues_three_state[];
const bench_queue bench_queues_three_state[] = {BENCH_QUEUE_END}; /* it has no condition variable */
