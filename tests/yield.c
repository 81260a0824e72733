/* yield.c - pawl_yield() stops where others keep the CPU, and tries again later
 *
 * Its source is part of this program, so that yields can be made to take long.
 */
#include "harness.h"

#include "../src/park/clock.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

static int yields;
static long lasting;   /* nanoseconds */
static uint32_t ended; /* ticks       */
static int seen;       /* crowds, by yields */
static int cpu;        /* the thread's      */

static bool is_crowded(void);

static int fake_yield(void)
{
    yields++;
    errno = EPERM;
    struct timespec end = {0, lasting};
    if (lasting > 0)
        nanosleep(&end, NULL);
    seen += is_crowded();
    ended = pawl_ticks();
    return 0;
}

static int fake_getcpu(void)
{
    return cpu;
}

#define sched_yield     fake_yield
#define sched_getcpu    fake_getcpu
#define PAWL_YIELD_LONG 50000000u
#include "../src/park/yield.c"

static bool is_crowded(void)
{
    return atomic_load(crowd_here()) - pawl_ticks() - 1 < PAWL_TICKS(CROWD);
}

enum { SHORT = 0, TOO_LONG = 60000000 };

static void begin_again(uint32_t debt, uint32_t pauses, long ns)
{
    atomic_store(&busy.debt, debt);
    atomic_store(&busy.pauses, pauses);
    atomic_store(&busy.until, pawl_ticks());
    yields = 0;
    lasting = ns;
}

/* A thread that loses its CPU at the wrong moment has yielded for long, and tries again. */
static void yield_undisturbed(uint32_t debt, uint32_t pauses)
{
    do
        begin_again(debt, pauses, SHORT);
    while (!pawl_yield());
}

static void a_short_yield_is_worth_it(const lock_info *unused)
{
    (void)unused;
    yield_undisturbed(0, 0);
    CHECK(yields == 1 && atomic_load(&busy.debt) == 0, "%d yields", yields);
    errno = 0;
    pawl_yield_once();
    CHECK(errno == 0 && yields == 2, "errno %d", errno);
}

static void a_long_yield_keeps_all_from_yielding(const lock_info *unused)
{
    (void)unused;
    begin_again(0, 0, TOO_LONG);
    CHECK(!pawl_yield() && yields == 1 && atomic_load(&busy.pauses) == 1, "not noticed");
    atomic_store(&busy.until,
                 pawl_ticks() + (PAWL_TICKS(PAUSE) << MOST)); /* however long it took to get here */
    CHECK(!pawl_yield() && yields == 1, "yields again");
    lasting = SHORT;
    for (uint32_t ago = 1; ago != 0; ago <<= 1) {
        atomic_store(&busy.until, pawl_ticks() - ago);
        int before = yields;
        pawl_yield();
        CHECK(yields == before + 1 || ago > UINT32_MAX - (PAWL_TICKS(PAUSE) << MOST),
              "a pause that ended %u ago", ago);
    }
}

static uint32_t pause_after(uint32_t pauses, uint32_t debt)
{
    begin_again(debt, pauses, 0);
    uint32_t now = atomic_load(&busy.until);
    lose(PAWL_TICKS(LOSS) / 2, now);
    return atomic_load(&busy.until) - now;
}

static void pauses_grow_and_end(const lock_info *unused)
{
    (void)unused;
    CHECK(pause_after(0, 0) == 0 && atomic_load(&busy.debt) == PAWL_TICKS(LOSS) / 2, "a pause for so little");
    CHECK(pause_after(0, PAWL_TICKS(LOSS) / 2 + 1) == PAWL_TICKS(PAUSE), "the first");
    CHECK(pause_after(3, PAWL_TICKS(LOSS)) == PAWL_TICKS(PAUSE) << 3, "the fourth");
    CHECK(atomic_load(&busy.pauses) == 4 && atomic_load(&busy.debt) == PAWL_TICKS(LOSS), "not counted");
    CHECK(pause_after(MOST, PAWL_TICKS(LOSS)) == PAWL_TICKS(PAUSE) << MOST, "the longest");
    CHECK(atomic_load(&busy.pauses) == MOST, "longer than the longest");
}

static void short_yields_pay_the_debt(const lock_info *unused)
{
    (void)unused;
    yield_undisturbed(5 * PAWL_TICKS(SAVES), 2);
    CHECK(atomic_load(&busy.debt) == 4 * PAWL_TICKS(SAVES) && atomic_load(&busy.pauses) == 2,
          "nothing saved");
    yield_undisturbed(PAWL_TICKS(SAVES), 2);
    CHECK(atomic_load(&busy.debt) == 0 && atomic_load(&busy.pauses) == 0, "not forgotten");
}

/* Nor if it loses its CPU meanwhile, which looks the same. */
static void a_newcomer_does_not_yield_in_a_crowd(const lock_info *unused)
{
    (void)unused;
    uint32_t begun;
    do {
        begin_again(0, 0, SHORT);
        atomic_store(crowd_here(), pawl_ticks());
    } while (!pawl_yield_alone());
    CHECK(yields == 1, "%d yields", yields);

    lasting = TOO_LONG;
    CHECK(!pawl_yield_alone() && yields == 2, "alone, though another thread ran");
    uint32_t noticed = atomic_load(crowd_here()) - PAWL_TICKS(CROWD) - ended;
    CHECK(noticed <= pawl_ticks() - ended, "a crowd of another length: %u", noticed);

    lasting = SHORT;
    do {
        begun = pawl_ticks();
        yields = 0;
        atomic_store(crowd_here(), begun + PAWL_TICKS(CROWD));
        CHECK(!pawl_yield_alone() || pawl_ticks() - begun >= PAWL_TICKS(CROWD), "alone in a crowd");
    } while (pawl_ticks() - begun >= PAWL_TICKS(CROWD));
    CHECK(yields == 0, "yields in a crowd");

    do {
        begun = pawl_ticks();
        yields = seen = 0;
        atomic_store(crowd_here(), begun + 2 * PAWL_TICKS(CROWD));
        pawl_yield_alone();
    } while (pawl_ticks() - begun >= PAWL_TICKS(CROWD));
    CHECK(yields == 1, "a crowd of an hour ago, when the clock began anew");
    CHECK(seen == 1, "others may yield meanwhile");
}

static void a_crowd_elsewhere_keeps_nobody_from_yielding(const lock_info *unused)
{
    (void)unused;
    static const int elsewhere[] = {1, 7, 8 + 1, -1};
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        uint32_t begun;
        do {
            begun = pawl_ticks();
            yields = 0;
            cpu = elsewhere[i];
            atomic_store(crowd_here(), begun + PAWL_TICKS(CROWD));
            CHECK(is_crowded() || pawl_ticks() - begun >= PAWL_TICKS(CROWD), "no crowd on CPU %d", cpu);
            cpu = 0;
            atomic_store(crowd_here(), begun);
            pawl_yield_alone();
        } while (pawl_ticks() - begun >= PAWL_TICKS(CROWD));
        CHECK(yields == 1, "a crowd on CPU %d", elsewhere[i]);
    }
}

static const promise promises[] = {
    {.name = "a_short_yield_is_worth_it", .check = a_short_yield_is_worth_it, .subject = "yield"},
    {.name = "a_long_yield_keeps_all_from_yielding",
     .check = a_long_yield_keeps_all_from_yielding,
     .subject = "yield"},
    {.name = "pauses_grow_and_end", .check = pauses_grow_and_end, .subject = "yield"},
    {.name = "short_yields_pay_the_debt", .check = short_yields_pay_the_debt, .subject = "yield"},
    {.name = "a_newcomer_does_not_yield_in_a_crowd",
     .check = a_newcomer_does_not_yield_in_a_crowd,
     .subject = "yield"},
    {.name = "a_crowd_elsewhere_keeps_nobody_from_yielding",
     .check = a_crowd_elsewhere_keeps_nobody_from_yielding,
     .subject = "yield"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
