/* barging.c - a mutex that barges as Rust's parking_lot does, which has no C package
 *
 * One byte's worth of state; a waiter spins for 2, 4 and 8 pauses, yields seven times, then sleeps. A release wakes one
 * sleeper, and its thread competes with that one on equal terms (https://docs.rs/parking_lot, word_lock and raw_mutex).
 * It lacks the fair unlock every half millisecond, and its sleepers queue in the kernel instead of a table.
 */
#include "bench/queue.h"

#include <pawl/detail/wait.h>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE = 0, HELD = 1, SLEPT_ON = 2 }; /* SLEPT_ON: held, and somebody may sleep */
enum { SPINS = 3, ROUNDS = 10 };

typedef struct barging {
    uint32_t state;
} barging;

static inline bool take(barging *l, uint32_t as)
{
    uint32_t free = FREE;
    return __atomic_compare_exchange_n(&l->state, &free, as, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void relax(int round)
{
    if (round >= SPINS) {
        sched_yield();
        return;
    }
    for (int i = 0; i < 2 << round; i++)
        pawl_pause();
}

static __attribute__((noinline)) void take_slowly(barging *l)
{
    uint32_t as = HELD;
    for (;;) {
        for (int round = 0; round < ROUNDS; round++) {
            if (__atomic_load_n(&l->state, __ATOMIC_RELAXED) == FREE && take(l, as))
                return;
            relax(round);
        }
        as = SLEPT_ON; /* from now on: a woken thread cannot know if it was the only one */
        if (__atomic_exchange_n(&l->state, SLEPT_ON, __ATOMIC_ACQUIRE) == FREE)
            return;
        syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, SLEPT_ON, NULL, NULL, 0);
    }
}

static inline void barging_lock(barging *l)
{
    if (!take(l, HELD))
        take_slowly(l);
}

static inline void barging_unlock(barging *l)
{
    if (__atomic_exchange_n(&l->state, FREE, __ATOMIC_RELEASE) == SLEPT_ON)
        syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

BENCH_PLAIN(barging, barging, barging_lock, barging_unlock)
BENCH_NO_INIT(barging) /* all-zero is unlocked */
BENCH_NO_DESTROY(barging)
BENCH_LOOPS(barging)

extern const bench_lock bench_set_barging[];
const bench_lock bench_set_barging[] = {
    BENCH_LOCK(barging, "barging", true, BENCH_SLEEPS),
    BENCH_END,
};

extern const bench_queue bench_queues_barging[];
const bench_queue bench_queues_barging[] = {BENCH_QUEUE_END}; /* it has no condition variable */
