/* setup.c - from a scenario and a setting to the program that the lab runs */
#include "mutex_scenarios.h"
#include "shared.h"
#include "visits.h"

#include "../src/park/fence.h"
#include "../src/park/hint.h"

#include <string.h>

uint32_t check_slot_mask, check_platoon, check_coin, check_spins, check_recheck, check_yields;
check_state state;

/* libpawl's hook, for simulated threads. */
bool pawl_thread_enter(void)
{
    lab_at_thread_exit(pawl_thread_leave);
    return true;
}

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
    check_shared_name();
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
    check_yields = with->lock != NULL && strcmp(with->lock->name, "mcs") == 0; /* it stands for all */
    check_spins = with->waiting == CHECK_SPIN ? 1000000 : 1;
    pawl_set_wait(with->waiting == CHECK_SPIN ? PAWL_WAIT_SPIN : PAWL_WAIT_PARK);
    pawl_use_membarrier(with->waiting != CHECK_PARK_FENCED);
    pawl_nodes_reserve(64);
    check_mutex_prepare();
    check_shared_prepare();
    *p = (struct lab_program){.threads = state.threads,
                              .setup = set_up,
                              .thread = run_thread,
                              .finish = finish,
                              .threads_die = s->threads_die};
}

unsigned check_hint(unsigned most)
{
    return state.with.waiting == CHECK_PARK_HINTED ? most + lab_pick(2) : most;
}

int check_cpu(void)
{
    static const int answers[] = {PAWL_CPU_OURS, PAWL_CPU_WANTED};
    return state.with.waiting == CHECK_PARK_HINTED ? answers[lab_pick(2)] : PAWL_CPU_UNKNOWN;
}

uint32_t check_hint_slot(void)
{
    return state.with.waiting == CHECK_PARK_HINTED ? 1 + (uint32_t)lab_self() : 0;
}

bool check_hint_is_off(uint32_t slot)
{
    return slot != 0 && lab_pick(2) != 0;
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
