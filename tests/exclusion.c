/* exclusion.c - mutual exclusion under stress, with one to eight threads */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MOST = 8, STEPS = 40000 };

typedef struct stress {
    const lock_info *lock;
    lock_memory *l;
    generator shared;
    size_t rounds; /* per thread */
    size_t entered[THREADS_MOST];
    bool mixed;    /* with trylock                     */
    double at_most; /* seconds, or 0 for no such limit */
} stress;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Tries for a while, so that trylock wins sometimes even under contention; then queues like everyone. */
static void enter(stress *s, lock_ctx *c, uint64_t *random)
{
    if (s->mixed)
        for (size_t tries = draw_below(random, 8); tries > 0; tries--)
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

static void run(const lock_info *lock, int threads, size_t steps, bool mixed, double at_most)
{
    char where[32];
    size_t sum = 0;
    stress s = {.lock = lock,
                .l = calloc(1, lock->size),
                .shared = GENERATOR_START,
                .rounds = steps / (size_t)threads,
                .mixed = mixed,
                .at_most = at_most};
    snprintf(where, sizeof where, "%d thread%s", threads, threads > 1 ? "s" : "");
    team_run(threads, work, &s);
    for (int i = 0; i < threads; i++)
        sum += s.entered[i];
    generator_check(&s.shared, sum, where);
    if (lock->destroy != NULL)
        lock->destroy(s.l);
    free(s.l);
}

static void mutual_exclusion(const lock_info *lock)
{
    for (int threads = 1; threads <= THREADS_MOST; threads++)
        run(lock, threads, scaled(STEPS), false, 0);
}

static void mutual_exclusion_mixed_with_trylock(const lock_info *lock)
{
    for (int threads = 2; threads <= THREADS_MOST; threads += 2)
        run(lock, threads, scaled(STEPS), true, 0);
}

/* No more threads than CPUs. Where other programs want them as well, a hand-over can take a time slice:
 * hence the limit. */
static void mutual_exclusion_spinning(const lock_info *lock)
{
    pawl_set_wait(PAWL_WAIT_SPIN);
    run(lock, 2, scaled(STEPS / 2), false, 0.3);
}

static bool has_trylock(const lock_info *lock)
{
    return lock->trylock != NULL;
}

static const promise promises[] = {
    {.name = "mutual_exclusion", .check = mutual_exclusion},
    {.name = "mutual_exclusion_mixed_with_trylock",
     .check = mutual_exclusion_mixed_with_trylock,
     .concerns = has_trylock},
    {.name = "mutual_exclusion_spinning", .check = mutual_exclusion_spinning},
};

HARNESS_MAIN(promises)
