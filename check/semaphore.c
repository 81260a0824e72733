/* semaphore.c - scenarios of the semaphore */
#include "state.h"

#include <errno.h>

static void enter(int id)
{
    lab_enter(&state.semaphore);
    state.data[0]++;
    state.entered[id]++;
    lab_leave(&state.semaphore);
}

/* One permit makes it a lock. */
static void as_lock(int id)
{
    int rounds = id == 0 || state.everyone ? state.iterations : 1;
    for (int i = 0; i < rounds; i++) {
        lab_arrive(&state.semaphore, sizeof state.semaphore);
        pawl_semaphore_take(&state.semaphore);
        enter(id);
        pawl_semaphore_post(&state.semaphore);
    }
}

static void try_as_lock(int id)
{
    if (id == 0) {
        lab_arrive(&state.semaphore, sizeof state.semaphore);
        pawl_semaphore_take(&state.semaphore);
    } else {
        lab_try(&state.semaphore);
        if (!pawl_semaphore_trytake(&state.semaphore))
            return;
    }
    enter(id);
    pawl_semaphore_post(&state.semaphore);
}

/* The first stays in line; the others have a deadline, and may give up at any time. */
static void timed_as_lock(int id)
{
    const struct timespec soon = in_a_second();
    if (id == 0) {
        lab_arrive(&state.semaphore, sizeof state.semaphore);
        pawl_semaphore_take(&state.semaphore);
    } else {
        lab_try(&state.semaphore);
        int result = pawl_semaphore_clocktake(&state.semaphore, CLOCK_MONOTONIC, &soon);
        lab_assert(result == 0 || result == ETIMEDOUT, "a timed take times out or succeeds");
        if (result != 0)
            return;
    }
    enter(id);
    pawl_semaphore_post(&state.semaphore);
}

/* No permits until one thread posts all: each of the others gets one, and sees what was done before. */
static void post_many(int id)
{
    if (id == 0) {
        state.data[0] = 0;
        state.data[1] = state.threads;
        pawl_semaphore_post_n(&state.semaphore, (uint32_t)state.threads - 1);
        return;
    }
    pawl_semaphore_take(&state.semaphore);
    lab_assert(state.data[1] == state.threads, "a permit comes with what its giver wrote");
}

static void all_permits_taken(void)
{
    lab_assert(!pawl_semaphore_trytake(&state.semaphore), "as many permits were taken as were given");
}

/* Whoever gets the permit destroys the semaphore. */
static void take_and_destroy(int id)
{
    if (id == 0) {
        pawl_semaphore_post(&state.semaphore);
        return;
    }
    if (id > 1)
        return;
    pawl_semaphore_take(&state.semaphore);
    lab_destroy(&state.semaphore, sizeof state.semaphore);
}

/* Two posters, one of which may stop anywhere: whoever gets a permit can tell that all before it have been called. */
static void call_in_order(int id)
{
    if (id < 2) {
        for (int i = 0; i <= id; i++)
            pawl_semaphore_post(&state.semaphore);
        return;
    }
    pawl_semaphore_take(&state.semaphore);
    uint64_t grant = atomic_load_explicit(&state.semaphore.grant, memory_order_acquire);
    for (uint64_t ticket = 1; ticket < grant; ticket++)
        lab_assert(atomic_load_explicit(pawl_twa_slot_of(&state.semaphore, ticket), memory_order_relaxed) !=
                       0,
                   "those who came earlier have been called");
}

static void nothing(void)
{
}

static void count(void)
{
    int entered = 0;
    for (int i = 0; i < LAB_MAX_THREADS; i++)
        entered += state.entered[i];
    lab_assert(state.data[0] == entered, "every visit to the critical section left its mark");
}

const scenario check_semaphore_scenarios[] = {
    {"as-lock", "one permit, everyone wants it", 3, 2, as_lock, count, NULL, false, true, 1},
    {"trytake", "take and trytake, mixed", 3, 1, try_as_lock, count, NULL, false, true, 1},
    {"timed", "take, and take with a deadline", 3, 1, timed_as_lock, count, NULL, false, true, 1},
    {"post-many", "permits for all at once", 3, 1, post_many, all_permits_taken, NULL, false, true, 0},
    {"two-posters", "two posters, three takers", 5, 1, call_in_order, all_permits_taken, NULL, false, true,
     0},
    {"destroy", "the taker destroys the semaphore", 2, 1, take_and_destroy, nothing, NULL, false, true, 0},
};
const int check_semaphore_scenario_count =
    sizeof check_semaphore_scenarios / sizeof check_semaphore_scenarios[0];
