/* fair_steps.c - pawl_fairmutex, one step at a time
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "sleepers.h"

#include <pawl/detail/wait.h>
#include "../../src/park/events.h"
#include "../../src/park/futex.h"
#include "../../src/park/pause.h"
#include "../../src/park/yield.h"

enum { PAUSES = 7 };

static _Thread_local int pauses, spins = PAUSES;

static void (*while_pausing)(void), (*while_asleep)(void);
static int wait_result, waits;

static void test_pause(void)
{
    pauses++;
    if (while_pausing != NULL)
        while_pausing();
}

static int yields, worthwhile; /* so many; the next one tells it to sleep */
static pawl_sleeper *awaited;  /* becomes the owner with the last one    */

static bool test_yield(void)
{
    yields++;
    if (yields == worthwhile && awaited != NULL)
        atomic_store(&awaited->state, 2); /* OWNER, below */
    return yields <= worthwhile;
}

static int test_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline)
{
    (void)clock, (void)deadline;
    waits++;
    CHECK(waits < 3 && atomic_load(word) == value, "sleeps, and would not be woken");
    if (while_asleep != NULL)
        while_asleep();
    return wait_result;
}

static uint32_t test_pauses(uint32_t nanoseconds)
{
    return nanoseconds > 0 ? (uint32_t)spins : 0;
}

#define pawl_yield      test_yield
#define pawl_pause      test_pause
#define pawl_pauses     test_pauses
#define pawl_futex_wait test_wait
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

static uint32_t state_of(int i)
{
    return atomic_load(&waiter[i].state);
}

/* So many wait for it, and it is held. */
static void line_up(int count)
{
    atomic_store(&mutex.word, 0);
    CHECK(arrive(&mutex, &waiter[0]) == 0 && atomic_load(&mutex.word) == HELD, "not free");
    for (int i = 0; i < count; i++) {
        atomic_store(&waiter[i].state, AWAKE);
        CHECK(arrive(&mutex, &waiter[i]) != 0, "taken twice");
    }
}

static void expect_owner(int who, bool queued)
{
    pawl_fairmutex_unlock(&mutex);
    for (int i = 0; i < 4; i++)
        CHECK((state_of(i) == OWNER) == (i == who), "%d has it", i);
    CHECK(atomic_load(&mutex.word) == (uint64_t)(queued ? HELD | QUEUED : HELD), "word %llx",
          (unsigned long long)atomic_load(&mutex.word));
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is locked");
    atomic_store(&waiter[who].state, AWAKE);
}

static int yields_of(pawl_sleeper *w, int most, pawl_sleeper *owner)
{
    uint32_t begin;
    do { /* unless it was kept from running */
        begin = pawl_ticks();
        atomic_store(&w->state, AWAKE);
        yields = 0;
        worthwhile = most;
        awaited = owner;
        CHECK(yield(w) == (owner != NULL) || pawl_ticks() - begin >= PAWL_TICKS(PAWL_FAIRMUTEX_YIELDING),
              "does not know what it has");
    } while (pawl_ticks() - begin >= PAWL_TICKS(PAWL_FAIRMUTEX_YIELDING));
    return yields;
}

static void a_waiter_yields_as_long_as_it_pays(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper w;
    CHECK(yields_of(&w, 3, NULL) == 4, "%d yields", yields);
    CHECK(yields_of(&w, 5, &w) == 5, "%d yields for what it has", yields);
    atomic_store(&w.state, AWAKE);
    uint32_t begin = pawl_ticks();
    awaited = NULL;
    worthwhile = INT32_MAX;
    CHECK(!yield(&w) && pawl_ticks() - begin >= PAWL_TICKS(PAWL_FAIRMUTEX_YIELDING), "gives up too soon");
    worthwhile = 0;
}

static void a_line_is_served_in_order(const lock_info *unused)
{
    (void)unused;
    line_up(3);
    expect_owner(0, true);
    CHECK(arrive(&mutex, &waiter[3]) != 0, "taken from its owner");
    pawl_fairmutex_unlock(&mutex);
    CHECK(state_of(1) == OWNER, "somebody was overtaken");
    atomic_store(&waiter[1].state, AWAKE);
    pawl_fairmutex_unlock(&mutex);
    CHECK(state_of(2) == OWNER, "somebody was overtaken");
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

static void unlock_mutex(void)
{
    pawl_fairmutex_unlock(&mutex);
    while_pausing = while_asleep = NULL;
}

static int lock_until(const struct timespec *deadline)
{
    pauses = waits = 0;
    return pawl_fairmutex_lock_until(&mutex, CLOCK_MONOTONIC, deadline);
}

static void it_is_handed_over_at_any_time(const lock_info *unused)
{
    (void)unused;
    struct timespec soon = in_ns(CLOCK_MONOTONIC, 1000000);
    CHECK(lock_until(NULL) == 0 && pauses == 0 && waits == 0, "waits for a mutex that is free");
    while_pausing = unlock_mutex;
    CHECK(lock_until(NULL) == 0 && pauses == 1 && waits == 0, "%d pauses, %d waits", pauses, waits);
    while_asleep = unlock_mutex;
    CHECK(lock_until(&soon) == 0 && pauses == PAUSES && waits == 1, "%d pauses, %d waits", pauses, waits);
    while_asleep = unlock_mutex;
    wait_result = ETIMEDOUT; /* just before its time came */
    CHECK(lock_until(&soon) == 0 && waits == 1, "gives up what it has");
    CHECK(atomic_load(&mutex.word) == HELD, "not locked");
}

static void a_deadline_ends_a_wait(const lock_info *unused)
{
    (void)unused;
    struct timespec none = {0, -1}, soon = in_ns(CLOCK_MONOTONIC, 1000000);
    line_up(0);
    CHECK(lock_until(&none) == EINVAL && waits == 0, "no time");
    wait_result = ETIMEDOUT;
    CHECK(lock_until(&soon) == ETIMEDOUT && waits == 1, "waits on");
    CHECK(atomic_load(&mutex.word) == HELD, "still in line");
}

static void only_the_first_in_line_yields(const lock_info *unused)
{
    (void)unused;
    struct timespec soon = in_ns(CLOCK_MONOTONIC, 1000000);
    wait_result = ETIMEDOUT;
    yields = 0;
    for (int i = 0; i < 1000 && yields == 0; i++) { /* it may be kept from running for too long */
        line_up(0);
        CHECK(lock_until(&soon) == ETIMEDOUT, "waits on");
    }
    CHECK(yields == 1, "%d yields", yields);
    line_up(1);
    yields = 0;
    CHECK(lock_until(&soon) == ETIMEDOUT && yields == 0, "%d yields behind another one", yields);
}

static void a_release_may_find_that_all_gave_up(const lock_info *unused)
{
    (void)unused;
    atomic_store(&mutex.word, HELD);
    pawl_fairmutex_unlock_contended(&mutex);
    CHECK(atomic_load(&mutex.word) == 0, "not released");
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is");
}

/* In a child of fork(), by a handler that interrupted a wait; the wait's deadline comes later. */
static void a_mutex_that_was_zeroed_stays_free(const lock_info *unused)
{
    (void)unused;
    static pawl_fairmutex zeroed;
    pawl_bucket *b = pawl_bucket_lock(&zeroed);
    collect(b, &zeroed);
    pawl_bucket_unlock(b);
    CHECK(atomic_load(&zeroed.word) == 0 && pawl_fairmutex_trylock(&zeroed), "held, and nobody has it");
}

static const promise promises[] = {
    ONE("fairmutex", a_waiter_spins_for_a_while),
    ONE("fairmutex", a_waiter_yields_as_long_as_it_pays),
    ONE("fairmutex", a_line_is_served_in_order),
    ONE("fairmutex", whoever_leaves_is_out_of_line),
    ONE("fairmutex", only_those_asleep_are_woken),
    ONE("fairmutex", it_is_handed_over_at_any_time),
    ONE("fairmutex", a_deadline_ends_a_wait),
    ONE("fairmutex", only_the_first_in_line_yields),
    ONE("fairmutex", a_release_may_find_that_all_gave_up),
    ONE("fairmutex", a_mutex_that_was_zeroed_stays_free),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
