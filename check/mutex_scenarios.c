/* mutex_scenarios.c - scenarios of pawl_mutex and pawl_fairmutex, and the list with those of pawl_cond */
#include "mutex_state.h"

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

static void visit(int id)
{
    lock();
    enter(id, &it.mutex);
    unlock();
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
    lab_assert(atomic_load_explicit(&pawl_mutex_dormant[pawl_mutex_slot(&it.mutex)], memory_order_relaxed) ==
                   0,
               "or relies on being seen");
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

/* More visits than may pass a waiter. */
static void overtake(int id)
{
    for (int i = 0; i < (id == 0 ? 8 : 1); i++)
        visit(id);
}

/* The same by two in turn, of which one may be asked to help while the other passes. */
static void overtake_in_turn(int id)
{
    for (int i = 0; i < (id < 2 ? 5 : 1); i++)
        visit(id);
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

/* All but the first have a deadline. They do not arrive, because the monitor would have them wait for ever.
 */
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

static void destroy(int id)
{
    lock();
    enter(id, &it.mutex);
    bool last = ++it.references == LAST_OF_THREE;
    unlock();
    if (last)
        lab_destroy(&it.mutex, sizeof it.mutex);
}

/* ---- pawl_fairmutex */

static void fair_contend(int id)
{
    for (int i = 0; i < (id == 0 ? 2 : 1); i++)
        visit_fair(id);
}

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

static void fair_destroy(int id)
{
    lab_arrive(&it.fair, sizeof it.fair);
    pawl_fairmutex_lock(&it.fair);
    enter(id, &it.fair);
    bool last = ++it.references == LAST_OF_THREE;
    lab_leave(&it.fair);
    pawl_fairmutex_unlock(&it.fair);
    if (last)
        lab_destroy(&it.fair, sizeof it.fair);
}

/* ---- all of them */

/* clang-format off */
const scenario check_mutex_scenarios[] = {
    {.name = "mutex-contend", .what = "three threads want the mutex",
     .threads = 3, .iterations = 2, .thread = contend, .finish = mutex_is_free},
    {.name = "mutex-pair", .what = "two threads want the mutex, more than once",
     .threads = 2, .iterations = 3, .thread = contend_more, .finish = mutex_is_free},
    {.name = "mutex-bypass", .what = "one wants the mutex again and again, the other once",
     .threads = 2, .iterations = 8, .thread = overtake, .finish = mutex_is_free},
    {.name = "mutex-bypass-help", .what = "two want the mutex again and again, the third once",
     .threads = 3, .iterations = 5, .thread = overtake_in_turn, .finish = mutex_is_free},
    {.name = "mutex-pass", .what = "one wants the mutex again and again, two sleep already",
     .threads = 3, .iterations = 3, .thread = mutex_pass, .finish = mutex_is_free},
    {.name = "mutex-trylock", .what = "lock and trylock, mixed",
     .threads = 3, .iterations = 1, .thread = try, .finish = mutex_is_free},
    {.name = "mutex-timed", .what = "two of three have a deadline",
     .threads = 3, .iterations = 1, .thread = timed, .finish = mutex_is_free},
    {.name = "mutex-timed-first", .what = "one of three has a deadline",
     .threads = 3, .iterations = 1, .thread = timed_first, .finish = mutex_is_free},
    {.name = "mutex-destroy", .what = "the last owner destroys the mutex",
     .threads = 3, .iterations = 1, .thread = destroy, .finish = mutex_nothing, .threads_die = true},
    {.name = "fair-contend", .what = "three threads want the fair mutex",
     .threads = 3, .iterations = 2, .thread = fair_contend, .finish = fair_is_free},
    {.name = "fair-trylock", .what = "one locks, two try",
     .threads = 3, .iterations = 1, .thread = fair_try, .finish = fair_is_free},
    {.name = "fair-timed", .what = "two of three have a deadline",
     .threads = 3, .iterations = 1, .thread = fair_timed, .finish = fair_is_free},
    {.name = "fair-destroy", .what = "the last owner destroys the fair mutex",
     .threads = 3, .iterations = 1, .thread = fair_destroy, .finish = mutex_nothing, .threads_die = true},
    {.name = "cond-signal", .what = "two signals, two waiters",
     .threads = 3, .iterations = 1, .thread = cond_signal, .finish = mutex_is_free},
    {.name = "cond-broadcast", .what = "one broadcast, two waiters",
     .threads = 3, .iterations = 1, .thread = cond_broadcast, .finish = mutex_is_free},
    {.name = "cond-timed", .what = "a signal for one with a deadline and one without",
     .threads = 3, .iterations = 1, .thread = cond_timed, .finish = mutex_is_free},
    {.name = "cond-destroy", .what = "destroyed right after a broadcast",
     .threads = 3, .iterations = 1, .thread = cond_destroy, .finish = mutex_is_free, .threads_die = true},
    {.name = "cond-destroy-late", .what = "destroyed after a broadcast that may find nobody",
     .threads = 2, .iterations = 1, .thread = cond_destroy_late, .finish = mutex_is_free, .threads_die = true},
    {.name = "cond-destroy-late-signal", .what = "destroyed after a signal that may find nobody",
     .threads = 2, .iterations = 1, .thread = cond_destroy_late_signal, .finish = mutex_is_free, .threads_die = true},
    {.name = "cond-destroy-signalled", .what = "destroyed by the one that was signalled",
     .threads = 2, .iterations = 1, .thread = cond_destroy_signalled, .finish = mutex_nothing, .threads_die = true},
    {.name = "cond-fair-broadcast", .what = "a broadcast over another lock",
     .threads = 3, .iterations = 1, .thread = cond_fair_broadcast, .finish = fair_is_free},
    {.name = "cond-fair-destroy", .what = "destroyed right after a broadcast over another lock",
     .threads = 3, .iterations = 1, .thread = cond_fair_destroy, .finish = fair_is_free, .threads_die = true},
};
/* clang-format on */
const int check_mutex_scenario_count = sizeof check_mutex_scenarios / sizeof check_mutex_scenarios[0];

int check_mutex_bypass(const scenario *s, uint32_t platoon)
{
    if (s->finish == fair_is_free && strncmp(s->name, "fair", 4) == 0)
        return 0;
    return s->finish == mutex_is_free && strncmp(s->name, "mutex", 5) == 0 ? 2 * (int)platoon : -1;
}

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
    lab_name(pawl_mutex_dormant, sizeof pawl_mutex_dormant, "dormant");
}
