/* fair_steps.c - pawl_fairmutex, one step at a time
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "sleepers.h"

#include <pawl/detail/wait.h>
#include "../../src/park/events.h"
#include "../../src/park/pause.h"

enum { PAUSES = 7 };

static _Thread_local int pauses, spins = PAUSES;

static void test_pause(void)
{
    pauses++;
}

static uint32_t test_pauses(uint32_t nanoseconds)
{
    return nanoseconds > 0 ? (uint32_t)spins : 0;
}

#define pawl_pause  test_pause
#define pawl_pauses test_pauses
#include "../../src/fairmutex.c"

static pawl_fairmutex mutex PAWL_ALIGNED;

static void a_waiter_spins_for_a_while(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper w;
    atomic_store(&w.state, AWAKE);
    CHECK(!spin(&w) && pauses == PAUSES, "%d pauses", pauses);
    atomic_store(&w.state, OWNER);
    pauses = 0;
    CHECK(spin(&w) && pauses == 0, "spins for what it has");
    spins = 0;
    CHECK(!spin(&w), "spins where it should not");
}

static pawl_sleeper waiter[4];

static uint32_t state(int i)
{
    return atomic_load(&waiter[i].state);
}

/* So many wait for it, and it is held. */
static void line_up(int count)
{
    atomic_store(&mutex.word, 0);
    CHECK(arrive(&mutex, &waiter[0]) && atomic_load(&mutex.word) == HELD, "not free");
    for (int i = 0; i < count; i++) {
        atomic_store(&waiter[i].state, AWAKE);
        CHECK(!arrive(&mutex, &waiter[i]), "taken twice");
    }
}

static void expect_owner(int who, bool queued)
{
    pawl_fairmutex_unlock(&mutex);
    for (int i = 0; i < 4; i++)
        CHECK((state(i) == OWNER) == (i == who), "%d has it", i);
    CHECK(atomic_load(&mutex.word) == (uint64_t)(queued ? HELD | QUEUED : HELD), "word %llx",
          (unsigned long long)atomic_load(&mutex.word));
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is locked");
    atomic_store(&waiter[who].state, AWAKE);
}

static void a_line_is_served_in_order(const lock_info *unused)
{
    (void)unused;
    line_up(3);
    expect_owner(0, true);
    CHECK(!arrive(&mutex, &waiter[3]), "taken from its owner");
    pawl_fairmutex_unlock(&mutex);
    CHECK(state(1) == OWNER, "somebody was overtaken");
    atomic_store(&waiter[1].state, AWAKE);
    pawl_fairmutex_unlock(&mutex);
    CHECK(state(2) == OWNER, "somebody was overtaken");
    atomic_store(&waiter[2].state, AWAKE);
    expect_owner(3, false);
    pawl_fairmutex_unlock(&mutex);
    CHECK(atomic_load(&mutex.word) == 0, "not released");
}

static void whoever_leaves_is_out_of_line(const lock_info *unused)
{
    (void)unused;
    line_up(4);
    CHECK(leave(&mutex, &waiter[1]) && leave(&mutex, &waiter[3]), "handed the mutex");
    expect_owner(0, true);
    atomic_store(&waiter[2].state, OWNER);
    CHECK(!leave(&mutex, &waiter[2]), "leaves what it was handed");
    atomic_store(&waiter[2].state, AWAKE);
    CHECK(leave(&mutex, &waiter[2]) && atomic_load(&mutex.word) == HELD, "the last is in line");
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is locked");
    pawl_fairmutex_unlock(&mutex);
    CHECK(atomic_load(&mutex.word) == 0, "not released");
}

static void only_those_asleep_are_woken(const lock_info *unused)
{
    (void)unused;
    line_up(2);
    atomic_store(&waiter[0].state, ASLEEP);
    uint64_t wakes = pawl_events(PAWL_FUTEX_WAKES);
    expect_owner(0, true);
    CHECK(pawl_events(PAWL_FUTEX_WAKES) == wakes + 1, "sleeps on");
    expect_owner(1, false);
    CHECK(pawl_events(PAWL_FUTEX_WAKES) == wakes + 1, "was awake");
}

static void a_release_may_find_that_all_gave_up(const lock_info *unused)
{
    (void)unused;
    atomic_store(&mutex.word, HELD);
    pawl_fairmutex_unlock_contended(&mutex);
    CHECK(atomic_load(&mutex.word) == 0, "not released");
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is");
}

static const promise promises[] = {
    ONE("fairmutex", a_waiter_spins_for_a_while),          ONE("fairmutex", a_line_is_served_in_order),
    ONE("fairmutex", whoever_leaves_is_out_of_line),       ONE("fairmutex", only_those_asleep_are_woken),
    ONE("fairmutex", a_release_may_find_that_all_gave_up),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
