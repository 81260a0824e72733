/* scenarios.c - the programs that the lab explores; compiled like the locks, so that the lab sees every
 * access */
#include "visits.h"

/* Everyone wants the same lock, or the same few. */
static void contend(int id)
{
    begin_thread(id, true);
    for (int i = 0; i < rounds(id); i++)
        visit(id, (id + i) % state.locks);
}

/* The first thread holds two locks at once, released in the order they were taken; each of the others waits
 * for one of them. What a thread has only once (a mailbox, an element) serves both. */
static void two_locks(int id)
{
    begin_thread(id, true);
    if (id > 0) {
        visit(id, (id - 1) % 2);
        return;
    }
    for (int i = 0; i < state.iterations; i++) {
        lock_ctx a, b;
        lock(0, &a);
        lock(1, &b);
        unlock(0, &a);
        unlock(1, &b);
        state.entered[id] += 2;
    }
}

/* One lock after the other, so that a late hand-over of the first meets the second. */
static void alternate(int id)
{
    begin_thread(id, true);
    visit(id, id == 1);
    if (id < 2)
        visit(id, id == 0);
}

static void trylock(int id)
{
    begin_thread(id, true);
    if (id > 0) {
        if (!try_visit(id, 0) && id == 1)
            visit(id, 0);
        return;
    }
    visit(id, 0);
    for (int i = 1; i < state.iterations; i++)
        try_visit(id, 0); /* with what the first visit has left behind */
}

/* The second thread follows the first, which then takes the lock again by trylock, with what that hand-over left
 * behind, and is followed once more. */
static void retry(int id)
{
    begin_thread(id, true);
    visit(id, 0);
    if (id > 0 || !try_visit(id, 0))
        visit(id, 0);
}

/* The first thread holds the lock until the second has tried: trylock waits for nobody. */
static void try_held(int id)
{
    begin_thread(id, true);
    if (id > 0) {
        try_visit(id, 0);
        atomic_store_explicit(&state.flag, 1, memory_order_release);
        return;
    }
    lock_ctx c;
    lock(0, &c);
    while (atomic_load_explicit(&state.flag, memory_order_acquire) == 0)
        ;
    unlock(0, &c);
    state.entered[id]++;
}

static bool has_trylock(const lock_info *lock)
{
    return lock->trylock != NULL;
}

static void trylock_alone_succeeds(void)
{
    count_visits();
    lock_ctx c;
    lab_assert(state.with.lock->trylock(&state.lock[0], &c), "trylock takes a free lock");
    lab_assert(!state.with.lock->trylock(&state.lock[0], &(lock_ctx){0}), "trylock fails on a held lock");
    state.with.lock->unlock(&state.lock[0], &c);
}

/* Threads end as soon as they have unlocked, and others begin in their memory. */
static void thread_exit(int id)
{
    begin_thread(id, false);
    visit(id, 0);
    if (id > 0)
        return;
    for (int i = 1; i < state.iterations; i++) {
        lab_thread_restart();
        begin_thread(id, false);
        if (state.with.lock->trylock == NULL || !try_visit(id, 0))
            visit(id, 0);
    }
}

static void nodes_are_back(void)
{
    count_visits();
    if (state.with.lock->own_waiting)
        return; /* it has no nodes */
    if (state.with.lock->destroy != NULL)
        state.with.lock->destroy(&state.lock[0]);
    pawl_nodes_trim(0);
    if (pawl_nodes_out() != 0)
        lab_fail(LAB_LEAK, "queue nodes did not return to the pool");
}

/* The last owner destroys the lock as soon as it has unlocked. Nobody may touch it after that, not even on the way
 * out of unlock. */
static void destroy(int id)
{
    begin_thread(id, true);
    lock_ctx c;
    lock(0, &c);
    bool last = --state.references == 0;
    state.entered[id]++;
    unlock(0, &c);
    if (!last)
        return;
    if (state.with.lock->destroy != NULL)
        state.with.lock->destroy(&state.lock[0]);
    lab_destroy(&state.lock[0], state.with.lock->size);
}

static bool promises_prompt_destruction(const lock_info *lock)
{
    return lock->prompt;
}

static bool is_mcs(const lock_info *lock)
{
    return strcmp(lock->name, "mcs") == 0;
}

static bool lock_in_time(lock_ctx *c)
{
    const struct timespec soon = in_a_second();
    lab_try(&state.lock[0]);
    return (is_mcs(state.with.lock)
                ? pawl_mcs_clocklock((pawl_mcs *)&state.lock[0], &c->mcs, CLOCK_MONOTONIC, &soon)
                : pawl_reciprocating_clocklock((pawl_reciprocating *)&state.lock[0], &c->reciprocating,
                                               CLOCK_MONOTONIC, &soon)) == 0;
}

static void visit_in_time(int id)
{
    lock_ctx c;
    if (!lock_in_time(&c))
        return;
    critical_section(0);
    state.with.lock->unlock(&state.lock[0], &c);
    state.entered[id]++;
}

/* All but the last have deadlines, and may leave the queue at any time, in the middle, too. The first comes twice, with
 * the same node if it is back. */
static void timed(int id)
{
    begin_thread(id, true);
    for (int i = 0; i < rounds(id); i++)
        if (id < state.threads - 1)
            visit_in_time(id);
        else
            visit(id, 0);
}

static bool has_deadlines(const lock_info *lock)
{
    return is_mcs(lock) || strcmp(lock->name, "reciprocating") == 0;
}

/* Who has left has nothing more to do with the lock: an owner that comes after all others destroys it. */
static void timed_destroy(int id)
{
    begin_thread(id, true);
    lock_ctx c;
    bool owns = true;
    if (id == state.threads - 1) {
        lock(0, &c);
    } else if ((owns = lock_in_time(&c))) {
        lab_enter(&state.lock[0]);
        state.data[0]++;
    }
    bool last = atomic_fetch_add_explicit(&state.flag, 1, memory_order_acq_rel) == state.threads - 1;
    if (!owns)
        return;
    state.entered[id]++;
    unlock(0, &c);
    if (last)
        lab_destroy(&state.lock[0], state.with.lock->size);
}

static void timed_exit(int id)
{
    begin_thread(id, false);
    if (id == state.threads - 1)
        visit(id, 0);
    else
        visit_in_time(id);
    if (id > 0)
        return;
    lab_thread_restart();
    begin_thread(id, false);
    visit_in_time(id);
}

const scenario check_scenarios[] = {
    {"contend", "everyone wants one lock", 3, 2, contend, NULL, NULL, false, true, 0},
    {"two-locks", "a thread holds two locks that others wait for", 3, 1, two_locks, NULL, NULL, false, true,
     0},
    {"alternate", "threads go from one lock to another", 3, 1, alternate, NULL, NULL, false, false, 0},
    {"trylock", "lock and trylock, mixed", 3, 2, trylock, trylock_alone_succeeds, has_trylock, false, false,
     0},
    {"retry", "trylock between two hand-overs", 2, 2, retry, trylock_alone_succeeds, has_trylock, false,
     false, 0},
    {"try-held", "the owner waits for a thread that tries", 2, 1, try_held, NULL, has_trylock, false, false,
     0},
    {"exit", "threads end and their memory is used again", 3, 2, thread_exit, nodes_are_back, NULL, true,
     false, 0},
    {"destroy", "the last owner destroys the lock", 3, 1, destroy, NULL, promises_prompt_destruction, true,
     true, 0},
    {"hand-off", "another thread unlocks", 3, 1, interposed_hand_off, NULL, interposed_is_oblivious, false,
     true, 0},
    {"hand-off-between", "another thread unlocks, a third comes twice", 3, 1, interposed_hand_off_between,
     NULL, interposed_is_made_oblivious, false, false, 0},
    {"orphan", "the owner ends, another thread unlocks", 3, 1, interposed_orphan, NULL,
     interposed_is_oblivious, true, true, 0},
    {"idle", "a lock that nobody waits for keeps nothing", 3, 2, interposed_idle, nodes_are_back,
     interposed_can_be_idle, true, true, 0},
    {"timed", "some have deadlines and leave the queue", 3, 2, timed, NULL, has_deadlines, false, true, 0},
    {"timed-exit", "those with deadlines end", 3, 2, timed_exit, nodes_are_back, has_deadlines, true, false,
     0},
    {"timed-destroy", "some leave the queue, and the last thread destroys the lock", 3, 1, timed_destroy,
     NULL, has_deadlines, true, true, 0},
    {"crowd", "four threads want one lock", 4, 1, contend, NULL, NULL, false, false, 0},
};
const int check_scenario_count = sizeof check_scenarios / sizeof check_scenarios[0];
