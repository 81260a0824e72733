/* mutex_scenarios.c - scenarios of pawl_mutex and pawl_fairmutex, and the list with those of pawl_cond */
#include "mutex_state.h"

#include "../src/mutex.h"

#include <errno.h>

mutex_state it;

/* ---- what scenarios are made of */

static void enter(int id, const void *lock)
{
    lab_enter(lock);
    it.data++; /* plain: a lock that orders too little makes it a data race */
    it.entered[id]++;
}

static void lock(void)
{
    lab_arrive(&it.mutex, sizeof it.mutex);
    pawl_mutex_lock(&it.mutex);
}

static void unlock(void)
{
    lab_leave(&it.mutex);
    pawl_mutex_unlock(&it.mutex);
}

static void unlock_fairly(void)
{
    lab_leave(&it.mutex);
    pawl_mutex_unlock_fair(&it.mutex);
}

static void visit(int id)
{
    lock();
    enter(id, &it.mutex);
    unlock();
}

/* The same; and if the head of the queue asked for a hand-off in this section, this thread does not get the next one.
 */
static void visit_unless_promised(int id)
{
    lock();
    enter(id, &it.mutex);
    lab_assert(it.promised_by != id + 1, "the next section is for the one that has asked for it");
    it.promised_by =
        atomic_load_explicit(&it.mutex.queue, memory_order_relaxed) & PAWL_M_HANDOFF ? id + 1 : 0;
    unlock();
}

/* The same, by an owner that has looked at the clock lately. A head without a timer depends on the next release. */
static void visit_patiently(int id)
{
    lock();
    enter(id, &it.mutex);
    lab_assert(it.promised_by != id + 1, "nobody is patient with a head that has asked");
    uint32_t queue = atomic_load_explicit(&it.mutex.queue, memory_order_relaxed);
    it.promised_by = queue & PAWL_M_HANDOFF ? id + 1 : 0;
    if (queue & PAWL_M_TIMED)
        atomic_store_explicit(&it.mutex.patience, 2, memory_order_relaxed);
    unlock();
}

/* The same, with an unlock that hands off to whoever was in the queue before it. */
static void visit_fairly(int id)
{
    lock();
    enter(id, &it.mutex);
    lab_assert(it.promised_by != id + 1, "a fair unlock hands the mutex to the waiter");
    it.promised_by = atomic_load_explicit(&it.mutex.queue, memory_order_relaxed) != 0 ? id + 1 : 0;
    unlock_fairly();
}

/* With the fair mutex locked. */
static void enter_fair(int id)
{
    enter(id, &it.fair);
    lab_leave(&it.fair);
    pawl_fairmutex_unlock(&it.fair);
}

static void visit_fair(int id)
{
    lab_arrive(&it.fair, sizeof it.fair);
    pawl_fairmutex_lock(&it.fair);
    enter_fair(id);
}

void mutex_count(void)
{
    int entered = 0;
    for (int i = 0; i < LAB_MAX_THREADS; i++)
        entered += it.entered[i];
    lab_assert(it.data == entered, "every visit to the critical section left its mark");
}

void mutex_is_free(void)
{
    mutex_count();
    lab_assert(pawl_mutex_trylock(&it.mutex), "the mutex is free when all are done");
    lab_assert(atomic_load_explicit(&it.mutex.queue, memory_order_relaxed) == 0,
               "and nobody is in its queue");
}

void fair_is_free(void)
{
    mutex_count();
    lab_assert(pawl_fairmutex_trylock(&it.fair), "the mutex is free when all are done");
}

void mutex_nothing(void)
{
}

/* ---- pawl_mutex */

static void contend(int id)
{
    for (int i = 0; i < (id == 0 ? 2 : 1); i++)
        visit(id);
}

static void contend_more(int id)
{
    for (int i = 0; i < (id == 0 ? 3 : 2); i++)
        visit(id);
}

/* One thread passes the other until the other's share is over, by its own clock or by the owner's. */
static void overtake(int id)
{
    for (int i = 0; i < (id == 0 ? 6 : 1); i++)
        visit_unless_promised(id);
}

static void overtake_in_turn(int id)
{
    for (int i = 0; i < (id < 2 ? 3 : 1); i++)
        visit_unless_promised(id);
}

static void overtake_patiently(int id)
{
    for (int i = 0; i < (id == 0 ? 4 : 1); i++)
        visit_patiently(id);
}

static void try(int id)
{
    if (id == 0) {
        visit(id);
    } else if (pawl_mutex_trylock(&it.mutex)) {
        enter(id, &it.mutex);
        unlock();
    } else if (id == 1) {
        visit(id);
    }
}

/* All but the first have a deadline. They do not arrive, or the monitor would expect them to wait for ever. */
static void timed(int id)
{
    if (id == 0) {
        visit(id);
        visit(id);
        return;
    }
    int result = pawl_mutex_clocklock(&it.mutex, CLOCK_MONOTONIC, &soon);
    if (result != 0) {
        lab_assert(result == ETIMEDOUT, "a timed lock times out or succeeds");
        return;
    }
    enter(id, &it.mutex);
    unlock();
}

/* A deadline for the one in front of another. */
static void timed_first(int id)
{
    if (id == 1)
        timed(id);
    else
        visit(id);
}

/* The head of the queue may give up at any time, even after it has asked for a hand-off. */
static void overtake_timed(int id)
{
    if (id == 1)
        timed(id);
    for (int i = 0; i < 3 - id; i++)
        visit(id);
}

/* One hands off to whoever waits, the others release as usual. */
static void hand_off(int id)
{
    for (int i = 0; i < 3 - id; i++) {
        if (id == 0)
            visit_fairly(id);
        else
            visit_unless_promised(id);
    }
}

/* The head of the queue may give up while it is handed the mutex. */
static void hand_off_timed(int id)
{
    if (id == 1)
        timed(id);
    for (int i = 0; i < 2 - id; i++) {
        lock();
        enter(id, &it.mutex);
        unlock_fairly();
    }
    if (id == 2)
        visit(id);
}

/* ---- pawl_fairmutex */

static void fair_timed(int id)
{
    if (id == 0) {
        visit_fair(id);
        visit_fair(id);
        return;
    }
    if (pawl_fairmutex_clocklock(&it.fair, CLOCK_MONOTONIC, &soon) != 0)
        return;
    enter_fair(id);
}

static void fair_try(int id)
{
    if (id == 0) {
        visit_fair(id);
    } else if (pawl_fairmutex_trylock(&it.fair)) {
        enter_fair(id);
    }
}

/* ---- all of them */

static bool is_mutex(const lock_info *lock)
{
    return strcmp(lock->name, "pawl_mutex") == 0;
}

static bool is_fairmutex(const lock_info *lock)
{
    return strcmp(lock->name, "pawl_fairmutex") == 0;
}

/* clang-format off */
const scenario check_mutex_scenarios[] = {
    {.name = "mutex-contend", .what = "three threads want the mutex",
     .threads = 3, .iterations = 2, .thread = contend, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-pair", .what = "two threads want the mutex, more than once",
     .threads = 2, .iterations = 3, .thread = contend_more, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-bypass", .what = "one wants the mutex again and again, the other once",
     .threads = 2, .iterations = 6, .thread = overtake, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-bypass-two", .what = "two want the mutex again and again, the third once",
     .threads = 3, .iterations = 3, .thread = overtake_in_turn, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-bypass-timed", .what = "one wants the mutex again and again, one has a deadline",
     .threads = 3, .iterations = 3, .thread = overtake_timed, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-patient", .what = "one releases it without a look at the clock, two want it",
     .threads = 3, .iterations = 4, .thread = overtake_patiently, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-pass", .what = "one wants the mutex again and again, two sleep already",
     .threads = 3, .iterations = 3, .thread = mutex_pass, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-trylock", .what = "lock and trylock, mixed",
     .threads = 3, .iterations = 1, .thread = try, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-timed", .what = "two of three have a deadline",
     .threads = 3, .iterations = 1, .thread = timed, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-timed-first", .what = "one of three has a deadline",
     .threads = 3, .iterations = 1, .thread = timed_first, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-fair", .what = "one hands the mutex to whoever waits, the other releases it",
     .threads = 2, .iterations = 3, .thread = hand_off, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-fair-three", .what = "one hands the mutex to one of two that wait",
     .threads = 3, .iterations = 3, .thread = hand_off, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "mutex-fair-timed", .what = "one hands the mutex to one that has a deadline",
     .threads = 3, .iterations = 2, .thread = hand_off_timed, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "fair-trylock", .what = "one locks, two try",
     .threads = 3, .iterations = 1, .thread = fair_try, .finish = fair_is_free, .applies = is_fairmutex},
    {.name = "fair-timed", .what = "two of three have a deadline",
     .threads = 3, .iterations = 1, .thread = fair_timed, .finish = fair_is_free, .applies = is_fairmutex},
    {.name = "cond-signal", .what = "two signals, two waiters",
     .threads = 3, .iterations = 1, .thread = cond_signal, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "cond-broadcast", .what = "one broadcast, two waiters",
     .threads = 3, .iterations = 1, .thread = cond_broadcast, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "cond-timed", .what = "a signal for one with a deadline and one without",
     .threads = 3, .iterations = 1, .thread = cond_timed, .finish = mutex_is_free, .applies = is_mutex},
    {.name = "cond-destroy", .what = "destroyed right after a broadcast",
     .threads = 3, .iterations = 1, .thread = cond_destroy, .finish = mutex_is_free, .threads_die = true, .applies = is_mutex},
    {.name = "cond-destroy-late", .what = "destroyed after a broadcast that may find nobody",
     .threads = 2, .iterations = 1, .thread = cond_destroy_late, .finish = mutex_is_free, .threads_die = true, .applies = is_mutex},
    {.name = "cond-destroy-late-signal", .what = "destroyed after a signal that may find nobody",
     .threads = 2, .iterations = 1, .thread = cond_destroy_late_signal, .finish = mutex_is_free, .threads_die = true, .applies = is_mutex},
    {.name = "cond-destroy-signalled", .what = "destroyed by the one that was signalled",
     .threads = 2, .iterations = 1, .thread = cond_destroy_signalled, .finish = mutex_nothing, .threads_die = true, .applies = is_mutex},
    {.name = "cond-fair-broadcast", .what = "a broadcast over another lock",
     .threads = 3, .iterations = 1, .thread = cond_fair_broadcast, .finish = fair_is_free, .applies = is_fairmutex},
    {.name = "cond-fair-destroy", .what = "destroyed right after a broadcast over another lock",
     .threads = 3, .iterations = 1, .thread = cond_fair_destroy, .finish = fair_is_free, .threads_die = true, .applies = is_fairmutex},
};
/* clang-format on */
const int check_mutex_scenario_count = sizeof check_mutex_scenarios / sizeof check_mutex_scenarios[0];

void check_mutex_prepare(void)
{
    memset(&it, 0, sizeof it);
}

void check_mutex_name(void)
{
    lab_name(&it.mutex, sizeof it.mutex, "mutex");
    lab_name(&it.fair, sizeof it.fair, "fairmutex");
    lab_name(&it.cond, sizeof it.cond, "cond");
    lab_name(&it.data, sizeof it.data, "data");
}
