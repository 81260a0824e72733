/* quick.c - the short way through the hooks leaves what the long one leaves */
#include "tables.h"

#include "preload/stats/quick.h"

#include <time.h>

__thread thread self __attribute__((tls_model("initial-exec"))) = {.tid = 7};

static uint64_t now = 5000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){.tv_nsec = (long)now};
    return 0;
}

uint32_t stats_stack_here(const void *site)
{
    return 1000 + (uint32_t)(uintptr_t)site;
}

uint32_t stats_stack_of(uintptr_t site)
{
    return 2000 + (uint32_t)site;
}

/* ---- as mutex/pthread.c and spin.c call them */

static bool may_be_short;
static int shortly; /* how often it was */

static void acquire(const void *lock, stats_kind kind, int site)
{
    stats_call c;
    const void *call = (const void *)(uintptr_t)site;
    stats_row *row = may_be_short ? stats_quick_row(lock, kind) : NULL;
    if (row != NULL && stats_is_quiet(row)) {
        stats_quick_acquired(row, call);
        shortly++;
        return;
    }
    stats_ask(&c, lock, kind, call);
    stats_acquired(&c);
}

static void release(const void *lock, stats_kind kind)
{
    stats_row *row = may_be_short ? stats_quick_row(lock, kind) : NULL;
    if (row == NULL || !stats_quick_released(row))
        stats_released(lock, kind);
}

/* ---- the same twice, once in each table */

static stats_table *tables[2];
static thread threads[2]; /* what the thread knows of each */
static uint64_t locks[4];

static void begin(uint32_t depth, uint32_t sample)
{
    for (int i = 0; i < 2; i++) {
        tables[i] = new_tables();
        tables[i]->depth = depth;
        tables[i]->sample = sample;
        tables[i]->chance = UINT32_MAX / sample;
        threads[i] = (thread){.tid = 7};
    }
}

static void enter(int i)
{
    stats_tables = tables[i];
    self = threads[i];
    may_be_short = i == 1;
}

static void check_same(const char *what, int step)
{
    for (int i = 0; i < 8; i++)
        CHECK(memcmp(&tables[0]->locks[i], &tables[1]->locks[i], sizeof(stats_row)) == 0,
              "%s, step %d: row %d differs", what, step, i);
    CHECK(memcmp(tables[0]->details, tables[1]->details, 8 * sizeof(stats_detail)) == 0,
          "%s, step %d: details", what, step);
}

static void hold(const void *lock, stats_kind kind, int site, int step)
{
    for (int i = 0; i < 2; i++) {
        enter(i);
        acquire(lock, kind, site);
        threads[i] = self;
    }
    check_same("held", step);
    now += 10 + (uint64_t)step % 7;
    for (int i = 0; i < 2; i++) {
        enter(i);
        release(lock, kind);
        threads[i] = self;
    }
    check_same("released", step);
}

static void one_lock(uint32_t depth, uint32_t sample, int expected)
{
    begin(depth, sample);
    for (int step = 0; step < 2000; step++)
        hold(&locks[0], STATS_MUTEX, 5 + step % 3 / 2, step);
    check_number("short", (uint64_t)shortly, (uint64_t)expected);
    CHECK(memcmp(tables[0]->meets, tables[1]->meets, sizeof tables[0]->meets) == 0, "meets");
}

static void a_lock_is_counted_alike(const lock_info *lock)
{
    (void)lock;
    one_lock(1, 16, 2000 - 32);
}

static void with_stacks_too(const lock_info *lock)
{
    (void)lock;
    one_lock(8, 16, 2000 - 32);
}

static void if_all_holds_are_timed_the_long_way_is_taken(const lock_info *lock)
{
    (void)lock;
    one_lock(1, 1, 0);
}

static void it_is_the_lock_that_was_used_last(const lock_info *lock)
{
    (void)lock;
    begin(1, 16);
    for (int step = 0; step < 1000; step++) {
        int which = step / 100 % 4;
        hold(&locks[which / 2], which % 2 == 0 ? STATS_MUTEX : STATS_SPIN, 5, step);
    }
    check_number("short", (uint64_t)shortly, 1000 - 4 * 32 - 6); /* the first after another lock is not */
    check_number("rows", tables[1]->locks_used, 4);
}

static void once_it_is_waited_for_the_long_way_is_taken(const lock_info *lock)
{
    (void)lock;
    begin(1, 16);
    for (int step = 0; step < 500; step++) {
        if (step == 100)
            tables[0]->locks[1].detail = tables[1]->locks[1].detail = 1;
        hold(&locks[0], STATS_MUTEX, 5, step);
    }
    check_number("short", (uint64_t)shortly, 100 - 32);
}

static const promise promises[] = {
    {"a_lock_is_counted_alike", a_lock_is_counted_alike, NULL, "quick"},
    {"with_stacks_too", with_stacks_too, NULL, "quick"},
    {"if_all_holds_are_timed_the_long_way_is_taken", if_all_holds_are_timed_the_long_way_is_taken, NULL,
     "quick"},
    {"it_is_the_lock_that_was_used_last", it_is_the_lock_that_was_used_last, NULL, "quick"},
    {"once_it_is_waited_for_the_long_way_is_taken", once_it_is_waited_for_the_long_way_is_taken, NULL,
     "quick"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
