/* admission.c - who enters next: the order that the register declares, exactly */
#include "stage.h"

#include <stdlib.h>

static move release(void)
{
    return (move){.verb = RELEASE};
}

static move arrive(int who)
{
    return (move){.verb = ARRIVE, .who = who};
}

/* All arrive one after the other while the first owner holds the lock; then they drain. */
static move park_all(play *p)
{
    return p->steps < p->actors - 1 ? arrive(++p->steps) : release();
}

static void waiters_enter_in_order(const lock_info *lock)
{
    int log[ACTORS_MOST];
    for (int actors = 2; actors <= 8; actors++) {
        play p = {.lock = lock, .script = park_all, .actors = actors, .last = 1, .log = log, .random = 1};
        stage_play(&p); /* checks each admission */
        CHECK(p.admissions == actors, "%d of %d entered", p.admissions, actors);
    }
}

/* Arrivals, releases and tries in random order; crowded and quiet spells take turns. */
static move at_random(play *p)
{
    int idle = stage_idle(p, NULL);
    if (p->admissions >= p->last || idle < 0)
        return release();
    size_t arrivals = p->admissions / 32 % 2 == 0 ? 5 : 3, roll = draw_below(&p->random, 8);
    if (roll < arrivals)
        return arrive(idle);
    if (roll == 7 && p->lock->trylock != NULL)
        return (move){.verb = TRY, .who = idle};
    return release();
}

static void nobody_is_overtaken_beyond_the_bound(const lock_info *lock)
{
    int last = (int)scaled(2000);
    int *log = calloc((size_t)last + ACTORS_MOST, sizeof *log);
    /* A platoon's bound can only be exceeded by more threads than a platoon has. */
    int actors = lock->order == PAWL_PLATOONS ? PAWL_PLATOON + 4 : 6;
    play p = {.lock = lock, .script = at_random, .actors = actors, .last = last, .log = log};
    p.random = 0x9E3779B97F4A7C15u;
    stage_play(&p);
    CHECK(p.admissions >= last, "%d admissions only", p.admissions);
    free(log);
}

/* The Reciprocating paper's table 2: A owns the lock, and B+C+D+E wait, of which B came last. A thread that releases
 * comes back before the next owner releases. */
static move table_2(play *p)
{
    if (p->admissions >= p->last)
        return release();
    if (p->steps < 4)
        return arrive(4 - p->steps++);
    if (p->steps < 4 + p->admissions - 1) {
        p->steps++;
        return arrive(p->log[p->admissions - 2]);
    }
    return release();
}

enum { TABLE_2_THREADS = 5, PERIOD = 8 };

/* How many of the first `last` admissions follow the paper's schedule. */
static int follow_table_2(const lock_info *lock, int last)
{
    static const char schedule[PERIOD + 1] = "ABCDEDCB";
    int *log = calloc((size_t)last + ACTORS_MOST, sizeof *log);
    play p = {.lock = lock, .script = table_2, .actors = TABLE_2_THREADS, .last = last, .log = log};
    p.random = 1;
    stage_play(&p);
    int i = 0;
    while (i < last && log[i] == schedule[i % PERIOD] - 'A')
        i++;
    free(log);
    return i;
}

static void palindromic_schedule(const lock_info *lock)
{
    int last = PERIOD * (int)scaled(25), followed = follow_table_2(lock, last);
    CHECK(followed == last, "admission %d is not that of ABCDEDCB", followed);
}

/* A lock that shuffles leaves the schedule after a few dozen chances at most; 2000 make it certain. Not scaled: fewer
 * chances would leave it to luck. */
static void palindromic_schedule_is_broken(const lock_info *lock)
{
    int last = PERIOD * 250, followed = follow_table_2(lock, last);
    CHECK(followed < last, "still ABCDEDCB after %d admissions", last);
}

/* Whether the admissions 1, 2, ... keep to platoons, counting the first owner as a member of the first platoon or
 * not. */
static bool platoons_in_turn(const int *log, int n, int first_owner)
{
    for (int i = 1; i < n; i++)
        if ((log[i] - 1 + first_owner) / PAWL_PLATOON != (i - 1 + first_owner) / PAWL_PLATOON)
            return false;
    return true;
}

static void platoons_enter_in_turn(const lock_info *lock)
{
    int log[ACTORS_MOST], actors = 3 * PAWL_PLATOON + 1;
    _Static_assert(3 * PAWL_PLATOON + 1 <= ACTORS_MOST, "room for three platoons and the owner");
    for (size_t rounds = scaled(10); rounds > 0; rounds--) {
        play p = {.lock = lock, .script = park_all, .actors = actors, .last = 1, .log = log, .random = 1};
        stage_play(&p);
        CHECK(platoons_in_turn(log, actors, 0) || platoons_in_turn(log, actors, 1),
              "somebody entered before the platoon ahead had left");
    }
}

static bool has_segments(const lock_info *lock)
{
    return lock->order == PAWL_SEGMENTS;
}

static bool shuffles(const lock_info *lock)
{
    return lock->order == PAWL_SHUFFLED;
}

static bool has_platoons(const lock_info *lock)
{
    return lock->order == PAWL_PLATOONS;
}

static const promise promises[] = {
    {.name = "waiters_enter_in_order", .check = waiters_enter_in_order},
    {.name = "nobody_is_overtaken_beyond_the_bound", .check = nobody_is_overtaken_beyond_the_bound},
    {.name = "palindromic_schedule", .check = palindromic_schedule, .concerns = has_segments},
    {.name = "palindromic_schedule_is_broken", .check = palindromic_schedule_is_broken, .concerns = shuffles},
    {.name = "platoons_enter_in_turn", .check = platoons_enter_in_turn, .concerns = has_platoons},
};

HARNESS_MAIN(promises)
