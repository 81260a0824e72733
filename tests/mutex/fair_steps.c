/* fair_steps.c - pawl_fairmutex, one step at a time
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "sleepers.h"

#include <pawl/wait.h>
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

static void a_release_may_find_that_all_gave_up(const lock_info *unused)
{
    (void)unused;
    atomic_store(&mutex.word, HELD);
    pawl_fairmutex_unlock_contended(&mutex);
    CHECK(atomic_load(&mutex.word) == 0, "not released");
    CHECK(atomic_load(&pawl_bucket_of(&mutex)->lock) == 0, "the bucket is");
}

static const promise promises[] = {
    ONE("fairmutex", a_waiter_spins_for_a_while),
    ONE("fairmutex", a_release_may_find_that_all_gave_up),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
