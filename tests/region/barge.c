/* barge.c - a newcomer tries for a while before it queues up at a shared mutex
 *
 * The source is part of this program, to see each of its tries. */
#include "../../src/park/pause.h"

#include "common.h"

enum { LOOKS = 3, SOMEBODY = 5 }; /* a seat */

static int pauses, free_after;
static _Atomic(uint32_t) *owner;

static void test_pause(void)
{
    if (++pauses == free_after)
        atomic_store(owner, 0);
}

static uint32_t test_pauses(uint32_t nanoseconds)
{
    return nanoseconds > 0 ? LOOKS : 0;
}

#define pawl_pause  test_pause
#define pawl_pauses test_pauses
#include "../../src/region_lock.c"

static void a_newcomer_takes_what_becomes_free(const lock_info *none)
{
    (void)none;
    pawl_region *r = new_region(new_file(), sizeof(pawl_mutex_shared));
    pawl_mutex_shared *m = pawl_region_memory(r);
    owner = &m->robust.owner;
    for (free_after = 1; free_after <= LOOKS; free_after++) {
        atomic_store(owner, SOMEBODY);
        pauses = 0;
        int error = pawl_mutex_shared_lock(r, m);
        CHECK(error == 0 && pauses == free_after, "%s, after %d looks", strerror(error), pauses);
        CHECK(atomic_load(owner) == pawl_seat_token(r) && *pawl_seat_held(r) == 1, "not its own");
        CHECK(pawl_mutex_shared_unlock(r, m) == 0, "unlock");
    }
}

static const promise promises[] = {
    {.name = "a_newcomer_takes_what_becomes_free",
     .check = a_newcomer_takes_what_becomes_free,
     .subject = "mutex_shared"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
