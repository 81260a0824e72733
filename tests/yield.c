/* yield.c - pawl_yield() stops where others keep the CPU, and tries again later
 *
 * Its source is part of this program, so that yields can be made to take long.
 */
#include "harness.h"

#include <sched.h>
#include <time.h>

static int yields;
static long lasting; /* nanoseconds */

static int fake_yield(void)
{
    yields++;
    struct timespec end = {0, lasting};
    if (lasting > 0)
        nanosleep(&end, NULL);
    return 0;
}

#define sched_yield     fake_yield
#define PAWL_YIELD_LONG 50000000u
#include "../src/park/yield.c"

enum { SHORT = 0, TOO_LONG = 60000000 };

static void begin_again(long ns)
{
    atomic_store(&busy, 0);
    yields = 0;
    lasting = ns;
}

/* A thread that loses its CPU at the wrong moment has yielded for long. */
static bool yield_undisturbed(void)
{
    for (int i = 0; i < 100; i++) {
        begin_again(SHORT);
        if (pawl_yield())
            return true;
    }
    return false;
}

static void a_short_yield_is_worth_it(const lock_info *unused)
{
    (void)unused;
    CHECK(yield_undisturbed() && yields == 1 && atomic_load(&busy) == 0, "%d yields", yields);
}

static void a_long_yield_keeps_all_from_yielding(const lock_info *unused)
{
    (void)unused;
    begin_again(TOO_LONG);
    CHECK(!pawl_yield() && yields == 1, "not noticed");
    atomic_fetch_add(&busy, PAWL_TICKS(1000000000u)); /* however long it takes to get here */
    CHECK(!pawl_yield() && yields == 1, "yields again");
}

static uint32_t pause_after(uint64_t times)
{
    uint32_t now = pawl_ticks();
    learn(times << 32 | now, now, true);
    return (uint32_t)atomic_load(&busy) - now;
}

static void pauses_grow_and_end(const lock_info *unused)
{
    (void)unused;
    CHECK(pause_after(0) == PAWL_TICKS(PAUSE), "the first");
    CHECK(pause_after(3) == PAWL_TICKS(PAUSE) << 3, "the fourth");
    CHECK(pause_after(PAUSE_MOST) == PAWL_TICKS(PAUSE) << PAUSE_MOST, "the longest");
    CHECK(pause_after(PAUSE_MOST + 1) == PAWL_TICKS(PAUSE) << PAUSE_MOST, "longer than the longest");
    lasting = SHORT;
    yields = 0;
    atomic_store(&busy, UINT64_C(2) << 32 | (pawl_ticks() - 1));
    while (!pawl_yield()) /* something disturbed it */
        atomic_store(&busy, UINT64_C(2) << 32 | (pawl_ticks() - 1));
    CHECK(yields > 0 && atomic_load(&busy) >> 32 == 1, "does not forget");
}

static const promise promises[] = {
    {.name = "a_short_yield_is_worth_it", .check = a_short_yield_is_worth_it, .subject = "yield"},
    {.name = "a_long_yield_keeps_all_from_yielding",
     .check = a_long_yield_keeps_all_from_yielding,
     .subject = "yield"},
    {.name = "pauses_grow_and_end", .check = pauses_grow_and_end, .subject = "yield"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
