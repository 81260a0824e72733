/* cond_steps.c - pawl_cond, one step at a time, with waiters that are not threads
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "still.h"

#include "../../src/park/yield.h"

static bool yield_or_act(void);
#define pawl_yield yield_or_act
#include "../../src/cond.c"
#undef pawl_yield

static pawl_cond cond PAWL_ALIGNED;
static pawl_mutex other PAWL_ALIGNED;

/* What happens while a thread yields; its result is the yield's. */
static bool (*act)(void);
static int yields;

static bool yield_or_act(void)
{
    yields++;
    return act != NULL ? act() : pawl_yield();
}

static void expect_waiters(uint32_t n)
{
    CHECK(atomic_load(&cond.waiters) == n, "%u wait, not %u", atomic_load(&cond.waiters), n);
    CHECK(atomic_load(&pawl_bucket_of(&cond)->lock) == 0, "the bucket is locked");
}

static void enqueue(pawl_sleeper *w, pawl_mutex *m, bool asleep)
{
    memset(w, 0x5a, sizeof *w);
    pawl_cond_enqueue(&cond, w, m);
    CHECK(state_of(w) == LOOKING && pawl_cond_is_in_queue(&cond, w), "not in line");
    if (asleep)
        CHECK(!pawl_cond_look(&cond, w) && state_of(w) == WAITING, "not asleep");
}

/* Makes that many sleep on it, with this mutex or with another lock. */
static pawl_sleeper *wait_with(pawl_mutex *m, int count)
{
    behind(0, 0, 0);
    for (int i = 0; i < count; i++)
        enqueue(&waiters[i], m, true);
    expect_waiters((uint32_t)count);
    return waiters;
}

static void a_call_takes_the_first_or_all(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = wait_with(NULL, 4);
    CHECK(call(&cond, false) == w && w->next == NULL && state_of(w) == CALLED, "not the first");
    expect_waiters(3);
    CHECK(!pawl_cond_is_in_queue(&cond, w) && !pawl_cond_withdraw(&cond, w), "gave up after a signal");
    CHECK(pawl_cond_withdraw(&cond, w + 2) && w[2].next == NULL, "not in line");
    expect_waiters(2);
    CHECK(call(&cond, true) == w + 1 && w[1].next == w + 3 && w[3].next == NULL, "not all of them");
    CHECK(state_of(w + 1) == CALLED && state_of(w + 3) == CALLED, "not called");
    CHECK(!pawl_cond_is_in_queue(&cond, w + 3), "in line and called");
    expect_waiters(0);
    CHECK(call(&cond, true) == NULL && call(&cond, false) == NULL, "nobody waits");
    w = wait_with(&mutex, 1);
    CHECK(call(&cond, true) == w && state_of(w) == WAITING, "whoever goes to a mutex sleeps on");
}

static void a_broadcast_is_passed_on(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = wait_with(NULL, 3);
    pawl_cond_signal_waiters(&cond, true);
    CHECK(state_of(w) == GO && state_of(w + 1) == CALLED && state_of(w + 2) == CALLED, "not one by one");
    pawl_cond_leave(w);
    CHECK(state_of(w + 1) == GO && state_of(w + 2) == CALLED, "not passed on");
    pawl_cond_leave(w + 1);
    CHECK(state_of(w + 2) == GO, "not passed on");
    pawl_cond_leave(w + 2);
    w = wait_with(NULL, 2);
    pawl_cond_signal_waiters(&cond, false);
    CHECK(state_of(w) == GO && state_of(w + 1) == WAITING && w->next == NULL, "more than one");
    pawl_cond_signal_waiters(&cond, false);
}

static void waiters_go_to_their_mutex(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = wait_with(&mutex, 3);
    pawl_cond_signal_waiters(&cond, false);
    CHECK(first() == w && state_of(w) == PAWL_AWAKE && queue() == UP, "the first is not up");
    pawl_cond_signal_waiters(&cond, true);
    CHECK(first() == w && w->next == w + 1 && w[1].next == w + 2 && w->length == 3, "not in line");
    CHECK(state_of(w + 1) == PAWL_ASLEEP && queue() == UP, "not as they were");
    expect_waiters(0);
    CHECK(is_held(), "released");
}

/* Programs do that, and glibc does not mind. */
static void waits_of_one_time_may_use_several_locks(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = wait_with(&mutex, 2);
    memset(&other, 0, sizeof other);
    atomic_store(&other.held, 1);
    for (int i = 2; i < 6; i++)
        enqueue(&w[i], i < 4 ? &other : NULL, true);
    expect_waiters(6);
    pawl_cond_signal_waiters(&cond, true);
    CHECK(first() == w && w->length == 2 && w[1].next == NULL, "those of the first mutex");
    pawl_bucket *b = pawl_bucket_lock(&other);
    CHECK(pawl_queue_first(b, &other) == w + 2 && w[2].length == 2, "those of the second");
    pawl_bucket_unlock(b);
    CHECK(state_of(w + 4) == GO && state_of(w + 5) == CALLED && w[4].next == w + 5, "the others");
}

static int held, calls;

static void lock_any(void *l, void *ctx)
{
    CHECK(l == &held && ctx == &calls && held == 0, "another lock");
    held = 1;
    calls++;
}

static void unlock_any(void *l, void *ctx)
{
    CHECK(l == &held && ctx == &calls && held == 1, "another lock");
    expect_waiters(1); /* or else a signal could be lost */
    held = 0;
    calls++;
}

static void a_deadline_may_be_over(const lock_info *unused)
{
    (void)unused;
    struct timespec past = in_ns(CLOCK_MONOTONIC, -1000000), none = {0, -1};
    held = 1;
    CHECK(pawl_cond_clockwait_any(&cond, lock_any, unlock_any, &held, &calls, CLOCK_MONOTONIC, &none) ==
              EINVAL,
          "no time");
    CHECK(held == 1 && calls == 0, "waited");
    CHECK(pawl_cond_clockwait_any(&cond, lock_any, unlock_any, &held, &calls, CLOCK_MONOTONIC, &past) ==
              ETIMEDOUT,
          "waits for the past");
    CHECK(held == 1 && calls == 2, "not waited");
    expect_waiters(0);
    behind(0, 0, 0);
    CHECK(pawl_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &none) == EINVAL && is_held(), "no time");
    CHECK(pawl_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT && is_held(), "the past");
    expect_waiters(0);
}

static void whoever_was_told_does_not_sleep(const lock_info *unused)
{
    (void)unused;
    struct timespec past = in_ns(CLOCK_MONOTONIC, -1000000);
    pawl_sleeper *w = wait_with(NULL, 1);
    pawl_cond_signal_waiters(&cond, false);
    CHECK(pawl_cond_sleep(&cond, w, CLOCK_MONOTONIC, &past) == 0, "too late");
}

/* The first and the last look, the one between them sleeps. */
static void whoever_looks_is_told_and_not_requeued(const lock_info *unused)
{
    (void)unused;
    pawl_mutex *const with[] = {&mutex, NULL};
    for (int k = 0; k < 2; k++) {
        pawl_sleeper *w = wait_with(with[k], 0);
        for (int i = 0; i < 3; i++)
            enqueue(&w[i], with[k], i == 1);
        pawl_cond_signal_waiters(&cond, true);
        CHECK(state_of(w) == GO && state_of(w + 2) == GO, "not told");
        CHECK(w->next == NULL && w[2].next == NULL, "one looker would wake another");
        CHECK(pawl_cond_look(&cond, w) && !pawl_cond_withdraw(&cond, w), "does not know that it was told");
        expect_waiters(0);
        CHECK(with[k] == NULL ? state_of(w + 1) == GO : first() == w + 1, "the sleeper has gone astray");
        CHECK(!pawl_cond_look(&cond, w + 1) == (with[k] != NULL), "requeued, yet it locks for itself");
    }
}

static void a_signal_to_a_looker_is_used_up(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = wait_with(&mutex, 0);
    enqueue(w, &mutex, false);
    enqueue(w + 1, &mutex, true);
    pawl_cond_signal_waiters(&cond, false);
    CHECK(state_of(w) == GO && state_of(w + 1) == WAITING, "not the first alone");
    expect_waiters(1);
    pawl_cond_signal_waiters(&cond, false);
    CHECK(first() == w + 1, "the second signal was lost");
}

static bool signal_it(void)
{
    pawl_cond_signal_waiters(&cond, false);
    return true;
}

static bool go_on(void)
{
    return true;
}

static bool give_up(void)
{
    return false;
}

/* How often a wait yields before it sleeps, or returns. */
static int look(bool (*meanwhile)(void), bool is_told)
{
    pawl_sleeper *w = wait_with(NULL, 0);
    enqueue(w, NULL, false);
    act = meanwhile;
    yields = 0;
    CHECK(pawl_cond_look(&cond, w) == is_told && state_of(w) == (is_told ? GO : WAITING), "told or not");
    act = NULL;
    pawl_cond_withdraw(&cond, w);
    return yields;
}

static void a_look_ends(const lock_info *unused)
{
    (void)unused;
    CHECK(look(go_on, false) == PAWL_COND_YIELDS, "%d yields, while nothing happens", yields);
    CHECK(look(give_up, false) == 1, "%d yields, though they take too long", yields);
    CHECK(look(signal_it, true) == 1, "%d yields, though it was told", yields);
}

static void whoever_is_told_while_it_looks_has_the_mutex(const lock_info *unused)
{
    (void)unused;
    behind(0, 0, 0);
    act = signal_it;
    CHECK(pawl_cond_clockwait_call(&cond, &mutex, CLOCK_MONOTONIC, &(struct timespec){INT32_MAX, 0}) == 0,
          "told");
    act = NULL;
    CHECK(is_held() && first() == NULL, "it returned without the mutex");
    expect_waiters(0);
}

static const promise promises[] = {
    ONE("cond", a_call_takes_the_first_or_all),
    ONE("cond", a_broadcast_is_passed_on),
    ONE("cond", waiters_go_to_their_mutex),
    ONE("cond", waits_of_one_time_may_use_several_locks),
    ONE("cond", a_deadline_may_be_over),
    ONE("cond", whoever_was_told_does_not_sleep),
    ONE("cond", whoever_looks_is_told_and_not_requeued),
    ONE("cond", a_signal_to_a_looker_is_used_up),
    ONE("cond", a_look_ends),
    ONE("cond", whoever_is_told_while_it_looks_has_the_mutex),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
