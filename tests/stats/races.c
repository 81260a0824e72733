/* races.c - two threads in the tables at once: one goes on after each instruction of the other in turn */
#include "tables.h"

#include "preload/stats/quick.h"

#include "step.h"

__thread thread self __attribute__((tls_model("initial-exec")));

uint32_t stats_stack_here(const void *site)
{
    return (uint32_t)(uintptr_t)site;
}

uint32_t stats_stack_of(uintptr_t site)
{
    return (uint32_t)site;
}

static stats_table *t;
static int when;
static void (*other)(void);

static bool at_that_instruction(int instruction)
{
    if (instruction < when)
        return true;
    thread before = self;
    self = (thread){.tid = 8};
    other();
    self = before;
    return false;
}

/* Prepares, calls `mine` with `theirs` in the middle of it, and checks: for each instruction of `mine`. */
static void interleave(void (*prepare)(void), void (*mine)(void *), void (*theirs)(void), void (*check)(void))
{
    if (!step_possible())
        skip("no single steps here");
    other = theirs;
    int calls;
    when = 0;
    do {
        self = (thread){.tid = 7};
        prepare();
        calls = step_through(mine, NULL, at_that_instruction);
        if (calls > when)
            check();
        when++;
    } while (calls >= when);
    CHECK(when > 5, "%d instructions", when);
}

/* ---- counters */

static stats_count most;

static void begin_low(void)
{
    most = 10;
}

static void raise_high(void *unused)
{
    (void)unused;
    stats_raise_shared(&most, 50);
}

static void raise_less(void)
{
    stats_raise_shared(&most, 40);
}

static void check_high(void)
{
    check_number("most", most, 50);
}

static void the_highest_of_two_stays(const lock_info *lock)
{
    (void)lock;
    interleave(begin_low, raise_high, raise_less, check_high);
}

/* ---- rows */

static const uint64_t my_lock[2];
static const void *their_lock;
static stats_call mine, theirs;

static void begin_empty(void)
{
    if (t != NULL)
        munmap(t, STATS_TABLE_BYTES);
    t = stats_tables = new_tables();
    t->depth = 1;
    t->sample = 1000;
}

static void ask(void *unused)
{
    (void)unused;
    stats_ask(&mine, my_lock, STATS_MUTEX, NULL);
}

static void they_ask(void)
{
    stats_ask(&theirs, their_lock, STATS_MUTEX, NULL);
}

static int rows_of(const void *lock)
{
    int found = 0;
    for (uint32_t i = 1; i <= t->locks_used; i++)
        found += t->locks[i].lock == (uintptr_t)lock;
    return found;
}

static void check_same(void)
{
    CHECK(mine.row != NULL && mine.row == theirs.row, "%p and %p", (void *)mine.row, (void *)theirs.row);
    check_number("rows", (uint64_t)rows_of(my_lock), 1);
}

static void a_lock_has_one_row_whoever_is_first(const lock_info *lock)
{
    (void)lock;
    their_lock = my_lock;
    interleave(begin_empty, ask, they_ask, check_same);
}

static void check_apart(void)
{
    CHECK(theirs.row != NULL && theirs.row->lock == (uintptr_t)their_lock, "not their row");
    CHECK(mine.row == NULL || mine.row->lock == (uintptr_t)my_lock, "not my row");
    check_number("their rows", (uint64_t)rows_of(their_lock), 1);
    check_number("my rows", (uint64_t)rows_of(my_lock), mine.row != NULL);
}

/* Whose place in the index would be the same. Who comes second may be counted without a row, once. */
static void two_locks_never_share_a_row(const lock_info *lock)
{
    (void)lock;
    size_t place = (size_t)stats_mix((uintptr_t)my_lock >> 2) % STATS_INDEX;
    uintptr_t address = (uintptr_t)my_lock + 4;
    while ((size_t)stats_mix(address >> 2) % STATS_INDEX != place)
        address += 4;
    their_lock = (const void *)address;
    interleave(begin_empty, ask, they_ask, check_apart);
}

static const promise promises[] = {
    {"the_highest_of_two_stays", the_highest_of_two_stays, NULL, "races"},
    {"a_lock_has_one_row_whoever_is_first", a_lock_has_one_row_whoever_is_first, NULL, "races"},
    {"two_locks_never_share_a_row", two_locks_never_share_a_row, NULL, "races"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
