/* scenarios.c - the programs that the lab explores; compiled like the locks, so that the lab sees every
 * access */
#include "scenarios.h"
#include "mutex_scenarios.h"
#include "state.h"

#include "../src/park/fence.h"

#include <pawl/detail/nodes.h>

uint32_t check_slot_mask, check_platoon, check_coin, check_spins, check_recheck;
check_state state;

/* ---- what scenarios are made of */

/* libpawl's hook, for simulated threads. */
bool pawl_thread_enter(void)
{
    lab_at_thread_exit(pawl_thread_leave);
    return true;
}

/* Threads and seeds that are neighbours toss different coins: a multiplication moves the difference up, a shift down. */
static uint64_t seed_of(int id)
{
    uint64_t x = (state.with.random * 8 + (uint64_t)id) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return (x ^ x >> 32) | 1; /* 0 would be replaced by an address */
}

/* Runs first in each thread. It settles what would otherwise depend on where memory happens to be, or cost each
 * thread a visit to the pool, which only `exit` is about. */
static void begin_thread(int id, bool own_nodes)
{
    pawl_random_self = seed_of(id);
    if (!own_nodes)
        return;
    for (int i = 0; i < CHECK_NODES; i++)
        state.node[id][i].link = i + 1 < CHECK_NODES ? &state.node[id][i + 1] : NULL;
    pawl_nodes_self.free = &state.node[id][0];
}

static void critical_section(int which)
{
    lab_enter(&state.lock[which]);
    state.data[which]++; /* plain: a lock that orders too little makes it a data race */
    lab_leave(&state.lock[which]);
}

static void lock(int which, lock_ctx *c)
{
    lab_arrive(&state.lock[which], state.with.lock->size);
    state.with.lock->lock(&state.lock[which], c);
    lab_enter(&state.lock[which]);
    state.data[which]++;
}

static void unlock(int which, lock_ctx *c)
{
    lab_leave(&state.lock[which]);
    state.with.lock->unlock(&state.lock[which], c);
}

static void visit(int id, int which)
{
    lock_ctx c;
    lock(which, &c);
    unlock(which, &c);
    state.entered[id]++;
}

static bool try_visit(int id, int which)
{
    lock_ctx c;
    lab_try(&state.lock[which]);
    if (!state.with.lock->trylock(&state.lock[which], &c))
        return false;
    critical_section(which);
    state.with.lock->unlock(&state.lock[which], &c);
    state.entered[id]++;
    return true;
}

static int rounds(int id)
{
    return id == 0 || state.everyone ? state.iterations : 1;
}

static void count_visits(void)
{
    int visits = 0, data = 0;
    for (int i = 0; i < LAB_MAX_THREADS; i++)
        visits += state.entered[i];
    for (int i = 0; i < CHECK_LOCKS; i++)
        data += state.data[i];
    lab_assert(data == visits, "every visit to the critical section left its mark");
}

/* ---- scenarios */

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

/* ---- as libpawl-<lock>.so uses some of the locks, see preload/mutex/lock.h */

static void lock_to_give_away(lock_ctx *c)
{
    const lock_info *l = state.with.lock;
    lab_arrive(&state.lock[0], l->size);
    (l->acquire_oblivious != NULL ? l->acquire_oblivious : l->lock)(&state.lock[0], c);
    lab_enter(&state.lock[0]);
    state.data[0]++;
}

/* The first thread locks, the second unlocks. The first then wants the lock again at once, or it ends and another
 * thread begins in its memory and wants it. */
static void give_away(int id, bool ends)
{
    begin_thread(id, !ends);
    if (id == 0) {
        lock_to_give_away(&state.handed);
        state.entered[id]++;
        lab_leave(&state.lock[0]);
        atomic_store_explicit(&state.flag, 1, memory_order_release);
        if (ends) {
            lab_thread_restart();
            begin_thread(id, false);
        }
        visit(id, 0);
    } else if (id == 1) {
        while (atomic_load_explicit(&state.flag, memory_order_acquire) == 0)
            ;
        state.with.lock->unlock(&state.lock[0], &state.handed);
    } else {
        visit(id, 0);
    }
}

static void hand_off(int id)
{
    give_away(id, false);
}

/* The first thread may find the lock held, then free, and be followed before it has the lock as it wants it. */
static void hand_off_between(int id)
{
    hand_off(id);
    if (id > 1)
        visit(id, 0);
}

static void orphan(int id)
{
    give_away(id, true);
}

static bool is_oblivious(const lock_info *lock)
{
    return lock->oblivious || lock->acquire_oblivious != NULL;
}

static bool is_made_oblivious(const lock_info *lock)
{
    return lock->acquire_oblivious != NULL;
}

/* Some locks keep no node while nobody waits for them. */
static void idle(int id)
{
    begin_thread(id, false);
    lock_ctx c;
    if (id == 1) {
        if (!try_visit(id, 0))
            visit(id, 0);
        return;
    }
    for (int i = 0; i < rounds(id); i++) {
        lock(0, &c);
        lab_leave(&state.lock[0]);
        state.with.lock->release_idle(&state.lock[0], &c);
        state.entered[id]++;
    }
}

static bool can_be_idle(const lock_info *lock)
{
    return lock->release_idle != NULL;
}

static void visit_in_time(int id)
{
    static const struct timespec soon = {.tv_sec = 1};
    lock_ctx c;
    lab_try(&state.lock[0]);
    if (pawl_mcs_clocklock((pawl_mcs *)&state.lock[0], &c.mcs, CLOCK_MONOTONIC, &soon) != 0)
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
    return strcmp(lock->name, "mcs") == 0;
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
    {"hand-off", "another thread unlocks", 3, 1, hand_off, NULL, is_oblivious, false, true, 0},
    {"hand-off-between", "another thread unlocks, a third comes twice", 3, 1, hand_off_between, NULL,
     is_made_oblivious, false, false, 0},
    {"orphan", "the owner ends, another thread unlocks", 3, 1, orphan, NULL, is_oblivious, true, true, 0},
    {"idle", "a lock that nobody waits for keeps nothing", 3, 2, idle, nodes_are_back, can_be_idle, true,
     true, 0},
    {"timed", "some have deadlines and leave the queue", 3, 2, timed, NULL, has_deadlines, false, true, 0},
    {"crowd", "four threads want one lock", 4, 1, contend, NULL, NULL, false, false, 0},
};
const int check_scenario_count = sizeof check_scenarios / sizeof check_scenarios[0];

/* ---- setting up */

static void set_up(void *unused)
{
    (void)unused;
    memset(state.lock, 0, sizeof state.lock);
    memset(state.data, 0, sizeof state.data);
    memset(state.entered, 0, sizeof state.entered);
    memset(state.node, 0, sizeof state.node);
    memset(&state.semaphore, 0, sizeof state.semaphore);
    memset(&state.seqlock, 0, sizeof state.seqlock);
    memset(state.record, 0, sizeof state.record);
    atomic_store_explicit(&state.flag, 0, memory_order_relaxed);
    state.references = state.threads;
    pawl_semaphore_init(&state.semaphore, state.scenario->permits);
    lab_name(&state.lock[0], sizeof state.lock[0], "lock");
    lab_name(&state.lock[1], sizeof state.lock[1], "lock2");
    lab_name(state.data, sizeof state.data, "data");
    lab_name(state.node, sizeof state.node, "node");
    lab_name(pawl_slots, sizeof pawl_slots, "slots");
    lab_name(pawl_twa_slots, sizeof pawl_twa_slots, "twa_slots");
    lab_name(&state.semaphore, sizeof state.semaphore, "semaphore");
    lab_name(&state.seqlock, sizeof state.seqlock, "seqlock");
    lab_name(state.record, sizeof state.record, "record");
    check_mutex_name();
}

static void run_thread(void *arg, int id)
{
    (void)arg;
    state.scenario->thread(id);
}

static void finish(void *unused)
{
    (void)unused;
    (state.scenario->finish != NULL ? state.scenario->finish : count_visits)();
}

void scenario_prepare(const scenario *s, const scenario_setting *with, struct lab_program *p)
{
    state.scenario = s;
    state.with = *with;
    state.threads = with->threads != 0 ? with->threads : s->threads;
    state.iterations = with->iterations != 0 ? with->iterations : s->iterations;
    state.locks = with->locks != 0 ? with->locks : 1;
    state.everyone = with->iterations != 0;
    check_slot_mask = with->slots - 1;
    check_platoon = with->platoon;
    check_coin = with->coin;
    check_recheck = with->recheck;
    check_spins = with->waiting == CHECK_SPIN ? 1000000 : 1;
    pawl_set_wait(with->waiting == CHECK_SPIN ? PAWL_WAIT_SPIN : PAWL_WAIT_PARK);
    pawl_use_membarrier(with->waiting != CHECK_PARK_FENCED);
    pawl_nodes_reserve(64);
    check_mutex_prepare();
    *p = (struct lab_program){.threads = state.threads,
                              .setup = set_up,
                              .thread = run_thread,
                              .finish = finish,
                              .threads_die = s->threads_die};
}

static int bypass(const scenario_setting *with, int registered)
{
    bool by_platoon = with->lock->order == PAWL_PLATOONS && registered != PAWL_UNBOUNDED;
    return by_platoon ? (int)with->platoon - 1 : registered;
}

int scenario_bypass_each(const scenario_setting *with)
{
    if (with->lock == NULL)
        return 0;
    return bypass(with, with->lock->each);
}

int scenario_bypass_total(const scenario_setting *with)
{
    if (with->lock == NULL)
        return 0;
    return bypass(with, with->lock->total);
}
