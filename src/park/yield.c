/* yield.c - giving the CPU away for a moment
 *
 * A thread that yields instead of sleeping keeps its CPU awake, and is there at once when what it waits for happens. On
 * a CPU that idles, waking a sleeper takes 20 us or more on a virtual machine, where a yield takes half a microsecond.
 * That holds as long as only threads like it share the CPU, which yield or sleep soon. A busy program keeps the CPU for
 * a time slice instead, some milliseconds, and the scheduler charges the yielding thread for it. So a yield that took
 * long keeps the process from yielding for a while, for longer each time.
 */
#include "clock.h"
#include "hint.h"
#include "pause.h"
#include "yield.h"

#include <pawl/detail/wait.h>

#include <errno.h>
#include <sched.h>

/* Nanoseconds: what a yield may take; what it saves if it takes less; how much more all of them may take than they save
 * before nobody yields for a PAUSE, which doubles up to MOST times. */
#ifndef PAWL_YIELD_LONG
#define PAWL_YIELD_LONG 100000u
#endif
#ifndef PAWL_YIELD_SPIN
#define PAWL_YIELD_SPIN 500u /* nanoseconds: what a yield takes that finds nobody */
#endif
#define SAVES 10000u
#define LOSS  2000000u
#define PAUSE 16000000u
#define MOST  6
#define CROWD 2000000u /* how long other threads are taken to be ready to run */

static struct {
    _Atomic(uint32_t) debt;   /* ticks lost by yielding, less those saved       */
    _Atomic(uint32_t) until;  /* ticks: nobody yields before                    */
    _Atomic(uint32_t) pauses; /* in a row                                       */
} PAWL_ALIGNED busy;

/* By CPU. On larger machines several share an entry, so that no more than eight threads yield at a time: each of them takes
 * the owner's line now and then. */
static struct {
    _Atomic(uint32_t) until; /* ticks: other threads are ready to run there */
} PAWL_ALIGNED crowds[8];

static _Atomic(uint32_t) *crowd_here(void)
{
#ifdef __linux__
    int cpu = sched_getcpu();
#else
    int cpu = 0;
#endif
    return &crowds[(unsigned)cpu % (sizeof crowds / sizeof crowds[0])].until;
}

static void lose(uint32_t took, uint32_t now)
{
    uint32_t debt = atomic_load_explicit(&busy.debt, memory_order_relaxed) + took;
    if (debt >= PAWL_TICKS(LOSS)) {
        uint32_t pauses = atomic_load_explicit(&busy.pauses, memory_order_relaxed);
        atomic_store_explicit(&busy.until, now + (PAWL_TICKS(PAUSE) << pauses), memory_order_relaxed);
        atomic_store_explicit(&busy.pauses, pauses < MOST ? pauses + 1 : MOST, memory_order_relaxed);
        debt = PAWL_TICKS(LOSS);
    }
    atomic_store_explicit(&busy.debt, debt, memory_order_relaxed);
}

static void save(uint32_t debt)
{
    debt = debt > PAWL_TICKS(SAVES) ? debt - PAWL_TICKS(SAVES) : 0;
    atomic_store_explicit(&busy.debt, debt, memory_order_relaxed);
    if (debt == 0)
        atomic_store_explicit(&busy.pauses, 0, memory_order_relaxed);
}

/* If the hint says that nobody is there, it looks as often as otherwise, without a system call. */
void pawl_yield_once(void)
{
    if (pawl_hint_cpu() == PAWL_CPU_OURS) {
        for (uint32_t left = PAWL_YIELD_SPIN > 0 ? pawl_pauses_in(PAWL_YIELD_SPIN) : 0; left > 0; left--)
            pawl_pause();
        return;
    }
    int before = errno; /* a sandbox may refuse */
    sched_yield();
    errno = before;
}

bool pawl_yield(void)
{
    uint32_t start = pawl_ticks();
    uint32_t left = atomic_load_explicit(&busy.until, memory_order_relaxed) - start;
    bool pausing = left != 0 && left <= PAWL_TICKS(PAUSE) << MOST; /* else it ended, perhaps an hour ago */
    if (atomic_load_explicit(&busy.pauses, memory_order_relaxed) != 0 && pausing)
        return false;
    pawl_yield_once();
    uint32_t now = pawl_ticks(), debt = atomic_load_explicit(&busy.debt, memory_order_relaxed);
    bool took_long = now - start > PAWL_TICKS(PAWL_YIELD_LONG);
    if (took_long)
        lose(now - start, now);
    else if (debt != 0)
        save(debt);
    return !took_long;
}

/* If other threads want the CPU, it may take a round of their time slices until this one runs again. So its CPU looks
 * crowded until it is back: one thread finds out for all that run there. */
bool pawl_yield_alone(void)
{
    enum { SWITCH = 8 }; /* ticks: a yield that takes longer has let another thread run */
    _Atomic(uint32_t) *until = crowd_here();
    uint32_t start = pawl_ticks(), left = atomic_load_explicit(until, memory_order_relaxed) - start;
    pawl_cpu cpu = pawl_hint_cpu();
    if (cpu == PAWL_CPU_WANTED || (cpu == PAWL_CPU_UNKNOWN && left - 1 < PAWL_TICKS(CROWD)))
        return false;
    atomic_store_explicit(until, start + PAWL_TICKS(CROWD), memory_order_relaxed);
    pawl_yield_once();
    uint32_t now = pawl_ticks();
    bool alone = now - start <= SWITCH;
    atomic_store_explicit(until, alone ? now : now + PAWL_TICKS(CROWD), memory_order_relaxed);
    return alone;
}
