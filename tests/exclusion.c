/* exclusion.c - mutual exclusion under stress, with one to eight threads */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MOST = 8, STEPS = 6000 };

typedef enum entry { BY_LOCK, MIXED, BY_TRYLOCK } entry;

typedef struct stress {
    const lock_info *lock;
    entry entry;
    double at_most; /* seconds, or 0 for no such limit */

    void *l;
    generator shared;
    size_t rounds; /* per thread */
    size_t entered[THREADS_MOST];
} stress;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void enter(stress *s, lock_ctx *c, uint64_t *random)
{
    if (s->entry == BY_TRYLOCK) {
        while (!s->lock->trylock(s->l, c))
            ;
        return;
    }
    /* Tries for a while, so that trylock wins sometimes; then queues like everyone else. */
    for (size_t tries = s->entry == MIXED ? draw_below(random, 8) : 0; tries > 0; tries--)
        if (s->lock->trylock(s->l, c))
            return;
    s->lock->lock(s->l, c);
}

static void work(int me, void *arg)
{
    stress *s = arg;
    uint64_t random = (uint64_t)me + 1;
    double until = s->at_most > 0 ? now() + s->at_most : 0;
    for (size_t i = 0; i < s->rounds && (until <= 0 || now() < until); i++) {
        lock_ctx c;
        enter(s, &c, &random);
        generator_step(&s->shared);
        s->lock->unlock(s->l, &c);
        s->entered[me]++;
    }
}

static void run(stress s, int threads, size_t steps)
{
    char where[32];
    size_t sum = 0;
    s.l = calloc(1, s.lock->size);
    s.shared = GENERATOR_START;
    s.rounds = steps / (size_t)threads;
    snprintf(where, sizeof where, "%d thread%s", threads, threads > 1 ? "s" : "");
    team_run(threads, work, &s);
    for (int i = 0; i < threads; i++)
        sum += s.entered[i];
    generator_check(&s.shared, sum, where);
    if (s.lock->destroy != NULL)
        s.lock->destroy(s.l);
    free(s.l);
}

static void mutual_exclusion(const lock_info *lock)
{
    for (int threads = 1; threads <= THREADS_MOST; threads++)
        run((stress){.lock = lock}, threads, scaled(STEPS));
}

static void mutual_exclusion_mixed_with_trylock(const lock_info *lock)
{
    for (int threads = 2; threads <= THREADS_MOST; threads += 2)
        run((stress){.lock = lock, .entry = MIXED}, threads, scaled(STEPS));
}

/* Nobody ever queues: the lock is free again and again, and they race for it. */
static void mutual_exclusion_by_trylock_alone(const lock_info *lock)
{
    for (int threads = 2; threads <= 4; threads++)
        run((stress){.lock = lock, .entry = BY_TRYLOCK, .at_most = 0.2}, threads, scaled(4 * STEPS));
}

static void mutual_exclusion_yielding(const lock_info *lock)
{
    pawl_set_wait(PAWL_WAIT_YIELD);
    for (int threads = 2; threads <= THREADS_MOST; threads *= 2)
        run((stress){.lock = lock}, threads, scaled(4 * STEPS));
}

/* No more threads than CPUs. If other programs want them as well, a hand-over can take a time slice, hence the limit. */
static void mutual_exclusion_spinning(const lock_info *lock)
{
    pawl_set_wait(PAWL_WAIT_SPIN);
    run((stress){.lock = lock, .at_most = 0.2}, 2, scaled(2 * STEPS));
}

static bool has_trylock(const lock_info *lock)
{
    return lock->trylock != NULL;
}

static bool asks_the_policy(const lock_info *lock)
{
    return !lock->own_waiting;
}

static const promise promises[] = {
    {.name = "mutual_exclusion", .check = mutual_exclusion},
    {.name = "mutual_exclusion_mixed_with_trylock",
     .check = mutual_exclusion_mixed_with_trylock,
     .concerns = has_trylock},
    {.name = "mutual_exclusion_by_trylock_alone",
     .check = mutual_exclusion_by_trylock_alone,
     .concerns = has_trylock},
    {.name = "mutual_exclusion_yielding", .check = mutual_exclusion_yielding, .concerns = asks_the_policy},
    {.name = "mutual_exclusion_spinning", .check = mutual_exclusion_spinning, .concerns = asks_the_policy},
};

HARNESS_MAIN(promises)
