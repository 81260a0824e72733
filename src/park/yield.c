/* yield.c - giving the CPU away for a moment
 *
 * A thread that yields instead of sleeping keeps its CPU awake, and is there at once when what it waits for happens. On
 * a CPU that idles, waking a sleeper takes 20 us or more on a virtual machine, where a yield takes half a microsecond.
 * That holds as long as only threads like it share the CPU, which yield or sleep soon. A busy program keeps the CPU for
 * a time slice instead, some milliseconds, and the scheduler charges the yielding thread for it. So a yield that took
 * long keeps the process from yielding for a while, for longer each time.
 */
#include "clock.h"
#include "yield.h"

#include <pawl/detail/atomic.h>

#include <sched.h>

/* Nanoseconds: a yield that takes LONG means a busy CPU, and no thread yields for the next PAUSE, which doubles. */
#ifndef PAWL_YIELD_LONG
#define PAWL_YIELD_LONG 100000u
#endif
#define PAUSE      16000000u
#define PAUSE_MOST 6 /* doublings: a second */

/* When yielding may be tried again, in ticks, and above that how often it took long, less how often it did not. */
static pawl_word busy PAWL_ALIGNED;

static void learn(uint64_t was, uint32_t now, bool took_long)
{
    uint64_t times = was >> 32;
    if (took_long)
        times += times <= PAUSE_MOST;
    else if (times > 0)
        times--;
    uint32_t then = took_long ? now + (PAWL_TICKS(PAUSE) << (times - 1)) : now;
    atomic_store_explicit(&busy, times << 32 | then, memory_order_relaxed);
}

bool pawl_yield(void)
{
    uint64_t was = atomic_load_explicit(&busy, memory_order_relaxed);
    uint32_t start = pawl_ticks();
    if (was >> 32 != 0 && (int32_t)((uint32_t)was - start) > 0)
        return false;
    sched_yield();
    uint32_t now = pawl_ticks();
    bool took_long = now - start > PAWL_TICKS(PAWL_YIELD_LONG);
    if (took_long || was != 0)
        learn(was, now, took_long);
    return !took_long;
}
