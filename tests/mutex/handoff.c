/* handoff.c - pawl_mutex_unlock_fair(): the head of the queue gets the mutex, whatever the clock says */
#include "still.h"

#include "../../src/park/events.h"

#include <sched.h>

static void (*unlock)(pawl_mutex *m);

static void inlined(pawl_mutex *m)
{
    pawl_mutex_unlock_fair(m);
}

/* With a head in this state, which would not be handed the mutex by another unlock for a long time. */
static void expect_handed_over(int count, uint32_t head, uint32_t bits, uint64_t wake_ups)
{
    pawl_sleeper *w = behind(count, head, bits);
    atomic_store(&mutex.patience, 100);
    uint64_t before = pawl_events(PAWL_FUTEX_WAKES);
    unlock(&mutex);
    CHECK(is_held() && state_of(w) == PAWL_OWNER, "not handed over: state %u, bits %u", state_of(w), bits);
    CHECK(first() == (count > 1 ? w + 1 : NULL), "the queue has another head");
    CHECK(queue() == (count > 1 ? PAWL_M_WAITERS : 0) && patience() == 0, "%u, patience %u", queue(),
          patience());
    CHECK(pawl_events(PAWL_FUTEX_WAKES) - before == wake_ups, "not %d wake-ups", (int)wake_ups);
}

static void the_head_gets_it_in_every_state(const lock_info *unused)
{
    (void)unused;
    for (int call = 0; call < 2; call++) {
        unlock = call ? pawl_mutex_unlock_fair_call : inlined;
        for (int count = 1; count < 4; count++) {
            expect_handed_over(count, PAWL_ASLEEP, PAWL_M_WAITERS, 1);
            expect_handed_over(count, PAWL_ASLEEP, TIMED, 1);
            expect_handed_over(count, PAWL_WATCHING, TIMED, 1);
            expect_handed_over(count, PAWL_AWAKE, UP, 1); /* somebody owes it one, and may be late */
            expect_handed_over(count, PAWL_AWAKE, UP | PAWL_M_HANDOFF, 0);
        }
    }
}

/* After one of them the next is a new head. */
static void one_after_the_other(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(3, PAWL_AWAKE, UP);
    for (int i = 0; i < 3; i++) {
        CHECK(first() == w + i && state_of(w + i) != PAWL_OWNER, "place %d", i);
        pawl_mutex_unlock_fair(&mutex);
        CHECK(is_held() && state_of(w + i) == PAWL_OWNER, "not the turn of %d", i);
    }
    pawl_mutex_unlock_fair(&mutex);
    CHECK(!is_held() && queue() == 0, "nobody waits any more: %u", queue());
}

static void if_nobody_waits_it_is_released(const lock_info *unused)
{
    (void)unused;
    behind(0, 0, 0);
    pawl_mutex_unlock_fair(&mutex);
    CHECK(!is_held() && queue() == 0, "%u", queue());
    behind(0, 0, UP); /* they stayed in the parent of a fork() */
    pawl_mutex_unlock_fair(&mutex);
    CHECK(!is_held() && queue() == 0, "%u", queue());
}

/* ---- threads */

static int turn, turns[2];

static void take_turn(int me, void *unused)
{
    (void)unused;
    pawl_mutex_lock(&mutex);
    turns[me] = ++turn;
    pawl_mutex_unlock(&mutex);
}

/* The one that hands off asks again at once, and is served last. */
static void nobody_barges_past_a_waiter(const lock_info *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        team_member waiter[1];
        behind(0, 0, 0);
        turn = 0;
        team_start(waiter, 1, take_turn, NULL);
        while (queue() == 0) /* asleep it would ask for a hand-off, by and by */
            sched_yield();
        pawl_mutex_unlock_fair(&mutex);
        take_turn(1, NULL);
        team_join(waiter, 1);
        CHECK(turns[0] == 1 && turns[1] == 2, "the waiter came as number %d", turns[0]);
    }
}

static const promise promises[] = {
    ONE("mutex", the_head_gets_it_in_every_state),
    ONE("mutex", one_after_the_other),
    ONE("mutex", if_nobody_waits_it_is_released),
    ONE("mutex", nobody_barges_past_a_waiter),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
