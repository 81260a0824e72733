/* guard.c - the guards of guard.h release on every way out of their block, and not before */
#include "team.h"

#include <pawl/guard.h>

#include <stdlib.h>

enum { THREADS = 4 };

/* ---- every lock of the register */

typedef struct tally {
    void *l;
    size_t rounds, entered;
} tally;

/* In turn: to the end of the block, out of it by break, and with the block a function's. */
#define PAWL_LOCK(name, ...)                                                                                 \
    static void enter_##name(tally *t)                                                                       \
    {                                                                                                        \
        PAWL_HOLD_LOCK(name, (pawl_##name *)t->l);                                                           \
        t->entered++;                                                                                        \
    }                                                                                                        \
                                                                                                             \
    static void count_##name(int me, void *arg)                                                              \
    {                                                                                                        \
        tally *t = arg;                                                                                      \
        (void)me;                                                                                            \
        for (size_t i = 0; i < t->rounds; i++) {                                                             \
            if (i % 2 == 0) {                                                                                \
                enter_##name(t);                                                                             \
                continue;                                                                                    \
            }                                                                                                \
            PAWL_GUARD_LOCK(name, (pawl_##name *)t->l)                                                       \
            {                                                                                                \
                t->entered++;                                                                                \
                if (i % 4 == 1)                                                                              \
                    break;                                                                                   \
            }                                                                                                \
        }                                                                                                    \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK

static const struct {
    const char *name;
    void (*count)(int me, void *arg);
} counts[] = {
#define PAWL_LOCK(name, form, ...) {PAWL_SHOWN(name, form), count_##name},
#include <pawl/locks.def>
#undef PAWL_LOCK
};

static void (*count_of(const lock_info *lock))(int me, void *arg)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i].name, lock->name) == 0)
            return counts[i].count;
    return NULL;
}

static bool is_registered(const lock_info *lock)
{
    return count_of(lock) != NULL;
}

static void guard_excludes(const lock_info *lock)
{
    tally t = {.l = calloc(1, lock->size), .rounds = scaled(2000)};
    team_run(THREADS, count_of(lock), &t);
    CHECK(t.entered == THREADS * t.rounds, "%zu of %zu entered", t.entered, THREADS * t.rounds);
    if (lock->destroy != NULL)
        lock->destroy(t.l);
    free(t.l);
}

/* ---- every way out */

static pawl_mutex mutex, other;
static pawl_fairmutex fair;
static pawl_mcs queue;

static bool is_free(pawl_mutex *m)
{
    if (!pawl_mutex_trylock(m))
        return false;
    pawl_mutex_unlock(m);
    return true;
}

static void end_of_block_releases(const lock_info *none)
{
    (void)none;
    int turns = 0;
    PAWL_GUARD(&mutex)
    {
        turns++;
        CHECK(!is_free(&mutex), "not held in the block");
    }
    CHECK(turns == 1, "the block ran %d times", turns);
    CHECK(is_free(&mutex), "held after the block");
    PAWL_GUARD(&mutex)
    CHECK(!is_free(&mutex), "not held in a statement without braces");
    CHECK(is_free(&mutex), "held after the statement");
}

static bool return_from_guard(void)
{
    PAWL_GUARD(&mutex)
    {
        return !is_free(&mutex);
    }
    return false;
}

static bool return_from_hold(void)
{
    PAWL_HOLD(&mutex);
    return !is_free(&mutex);
}

static void return_releases(const lock_info *none)
{
    (void)none;
    CHECK(return_from_guard(), "guard: not held while the result was computed");
    CHECK(is_free(&mutex), "guard: held after return");
    CHECK(return_from_hold(), "hold: not held while the result was computed");
    CHECK(is_free(&mutex), "hold: held after return");
}

/* In a guard they leave the guard, after a hold the loop. */
static void break_and_continue_release(const lock_info *none)
{
    (void)none;
    int loops = 0, after = 0;
    for (; loops < 3; loops++) {
        PAWL_GUARD(&mutex)
        {
            if (loops == 0)
                break;
            if (loops == 1)
                continue;
        }
        CHECK(is_free(&mutex), "held after the block in turn %d", loops);
        after++;
    }
    CHECK(after == 3, "the loop went on %d times of 3", after);
    for (loops = 0; loops < 10; loops++) {
        CHECK(is_free(&mutex), "held at the start of turn %d", loops);
        PAWL_HOLD(&mutex);
        if (loops < 5)
            continue;
        break;
    }
    CHECK(loops == 5, "the loop ended in turn %d", loops);
    CHECK(is_free(&mutex), "held after the loop");
}

static void goto_releases(const lock_info *none)
{
    (void)none;
    int times = 0;
again:
    CHECK(is_free(&mutex), "held after goto");
    if (times == 2)
        return;
    PAWL_GUARD(&mutex)
    {
        PAWL_HOLD(&other);
        times++;
        goto again;
    }
}

static void guards_nest(const lock_info *none)
{
    (void)none;
    pawl_mcs_ctx c;
    PAWL_GUARD(&mutex)
    {
        PAWL_GUARD_LOCK(fairmutex, &fair)
        {
            PAWL_HOLD(&other);
            PAWL_HOLD_LOCK(mcs, &queue);
            CHECK(!is_free(&mutex) && !is_free(&other), "a mutex is not held");
            CHECK(!pawl_fairmutex_trylock(&fair) && !pawl_mcs_trylock(&queue, &c), "a lock is not held");
            break;
        }
        CHECK(!is_free(&mutex) && is_free(&other), "break left more or less than its block");
        CHECK(pawl_fairmutex_trylock(&fair) && pawl_mcs_trylock(&queue, &c), "a lock is held");
        pawl_fairmutex_unlock(&fair);
        pawl_mcs_unlock(&queue, &c);
    }
    CHECK(is_free(&mutex), "held in the end");
}

static pawl_mutex *next(pawl_mutex **p)
{
    return *p == &mutex ? (*p = &other) : (*p = &mutex);
}

static void argument_is_evaluated_once(const lock_info *none)
{
    (void)none;
    pawl_mutex *p = &other;
    PAWL_GUARD(next(&p))
    CHECK(!is_free(&mutex) && is_free(&other), "another mutex is held");
    CHECK(p == &mutex && is_free(&mutex), "evaluated again");
}

static const promise promises[] = {
    {.name = "guard_excludes", .check = guard_excludes, .concerns = is_registered},
    {.name = "end_of_block_releases", .check = end_of_block_releases, .subject = "guard"},
    {.name = "return_releases", .check = return_releases, .subject = "guard"},
    {.name = "break_and_continue_release", .check = break_and_continue_release, .subject = "guard"},
    {.name = "goto_releases", .check = goto_releases, .subject = "guard"},
    {.name = "guards_nest", .check = guards_nest, .subject = "guard"},
    {.name = "argument_is_evaluated_once", .check = argument_is_evaluated_once, .subject = "guard"},
};

HARNESS_MAIN(promises)
