/* line.c - the line before a shared lock, one step at a time, with threads that do not exist
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "../../src/park/futex.h"
#include "../../src/park/pause.h"

#include "scene.h"

enum { LOOKS = 3 };

static int pauses, waits;
static long slept; /* at most, the last time */
static uint32_t slept_on;
static void (*meanwhile)(void);

static void test_pause(void)
{
    pauses++;
}

static uint32_t test_pauses(uint32_t nanoseconds)
{
    return nanoseconds > 0 ? LOOKS : 0;
}

static bool test_wait(_Atomic(uint32_t) *word, uint32_t value, long most)
{
    CHECK(++waits < 50 && atomic_load(word) == value, "sleeps, and would not be woken");
    slept = most;
    slept_on = value;
    if (meanwhile != NULL)
        meanwhile();
    return true;
}

#define pawl_pause             test_pause
#define pawl_pauses            test_pauses
#define pawl_futex_wait_shared test_wait
#include "../../src/region_line.c"

enum { OWNER = 5, OTHER = 6 }; /* seats where nobody sits, and nobody died */

static uint32_t me;
static pawl_robust *l;

static head held_by(uint32_t owner)
{
    if (region == NULL)
        set_up(&mutex_kind);
    l = &shared->lock;
    me = pawl_seat_token(region);
    memset(l, 0, sizeof *l);
    atomic_store(&l->owner, owner);
    pauses = waits = 0;
    meanwhile = NULL;
    return (head){region, l, me, pawl_nanoseconds(CLOCK_MONOTONIC), PAWL_SHARED_PATIENCE, false};
}

/* If it was kept from running for a millisecond, the share is over. */
static void a_head_waits_for_its_share_first(const lock_info *none)
{
    (void)none;
    head h;
    do {
        h = held_by(OWNER);
        CHECK(!sleep_as_head(&h, OWNER) && waits == 1, "%d sleeps", waits);
    } while (pawl_nanoseconds(CLOCK_MONOTONIC) - h.since >= PAWL_SHARED_SHARE);
    CHECK(!h.asked && atomic_load(&l->heir) == 0, "asks at once");
    CHECK(slept_on == (OWNER | WAITERS) && slept > 0 && slept <= PAWL_SHARED_SHARE, "%#x, %ld ns", slept_on,
          slept);
}

static void a_head_asks_after_its_share(const lock_info *none)
{
    (void)none;
    head h = held_by(OWNER);
    h.since -= 2 * PAWL_SHARED_SHARE;
    CHECK(!sleep_as_head(&h, OWNER) && waits == 1 && h.asked && atomic_load(&l->heir) == me, "does not ask");
    CHECK(slept_on == (OWNER | WAITERS | HANDOFF) && slept == PAWL_SHARED_PATIENCE, "%#x, %ld ns", slept_on,
          slept);
    for (long patience = 2 * PAWL_SHARED_PATIENCE; patience <= MOST_PATIENCE; patience *= 2) {
        CHECK(!sleep_as_head(&h, slept_on) && slept == patience, "%ld ns", slept);
    }
    CHECK(!sleep_as_head(&h, slept_on) && slept == MOST_PATIENCE, "%ld ns, and longer and longer", slept);
}

static void only_one_is_the_heir(const lock_info *none)
{
    (void)none;
    head h = held_by(OWNER);
    atomic_store(&l->heir, OTHER);
    CHECK(!ask(&h) && atomic_load(&l->heir) == OTHER, "two heirs");
    atomic_store(&pawl_seat_at(region, OTHER)->generation, 1); /* it died */
    CHECK(ask(&h) && atomic_load(&l->heir) == me, "a dead heir stays");
}

static void a_head_sleeps_on_what_it_saw(const lock_info *none)
{
    (void)none;
    head h = held_by(OWNER);
    CHECK(!sleep_as_head(&h, OTHER) && waits == 0, "takes it, or sleeps, though the owner has changed");
    CHECK(atomic_load(&l->owner) == OWNER, "%#x", atomic_load(&l->owner));
}

static void release(void)
{
    atomic_store(&l->owner, 0);
}

static void a_head_watches_before_it_sleeps(const lock_info *none)
{
    (void)none;
    held_by(OWNER);
    meanwhile = release;
    CHECK(take_as_head(region, l, me) == 0 && atomic_load(&l->owner) == me, "not taken");
    CHECK(pauses == LOOKS && waits == 1, "%d pauses, %d sleeps", pauses, waits);
}

static void leave(void)
{
    atomic_store(&pawl_seat_at(region, OTHER)->queued, 0);
}

static void one_behind_watches_before_it_sleeps(const lock_info *none)
{
    (void)none;
    held_by(OWNER);
    meanwhile = leave;
    atomic_store(&pawl_seat_at(region, OTHER)->queued, 1 << PAWL_SEAT_BITS | OTHER);
    wait_behind(region, 1 << PAWL_SEAT_BITS | OTHER);
    CHECK(pauses == LOOKS && waits == 1 && slept == PAWL_SHARED_PATIENCE, "%d pauses, %d sleeps", pauses,
          waits);
}

static void a_seat_runs_out_of_hapaxes(const lock_info *none)
{
    (void)none;
    held_by(OWNER);
    pawl_seat *seat = pawl_seat_at(region, me);
    seat->count = (UINT64_C(1) << (64 - PAWL_SEAT_BITS)) - 2;
    CHECK(next_hapax(seat, me) == ((UINT64_MAX & ~(uint64_t)PAWL_SEATS) | (me & PAWL_SEATS)),
          "not the last one");
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        next_hapax(seat, me);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
          "it draws one twice");
}

#define PROMISE(check_)                                                                                      \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "line"                                                  \
    }

static const promise promises[] = {
    PROMISE(a_head_waits_for_its_share_first),
    PROMISE(a_head_asks_after_its_share),
    PROMISE(only_one_is_the_heir),
    PROMISE(a_head_sleeps_on_what_it_saw),
    PROMISE(a_head_watches_before_it_sleeps),
    PROMISE(one_behind_watches_before_it_sleeps),
    PROMISE(a_seat_runs_out_of_hapaxes),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
