/* idle.c - threads that wait for a lock whose owner sleeps leave the CPUs to others */
#include "team.h"

#include <stdlib.h>
#include <time.h>

enum { WAITERS = 15, WINDOW_MS = 100, WINDOWS = 20, PERCENT = 3 };

typedef struct queue {
    const lock_info *lock;
    void *l;
    atomic_int arrived;
    size_t entered;
} queue;

static void enter(int me, void *arg)
{
    queue *q = arg;
    lock_ctx c;
    (void)me;
    atomic_fetch_add(&q->arrived, 1);
    q->lock->lock(q->l, &c);
    q->entered++;
    q->lock->unlock(q->l, &c);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Percent of one CPU that the whole process uses while this thread sleeps. */
static double use_of_a_window(void)
{
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    nanosleep(&(struct timespec){.tv_nsec = WINDOW_MS * 1000000L}, NULL);
    return 100 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
}

/* On a busy machine it takes them some windows to get as far as sleeping; those that never do use all of every
 * window. */
static void waiters_sleep_while_the_owner_does(const lock_info *lock)
{
    queue q = {.lock = lock, .l = calloc(1, lock->size)};
    team_member team[WAITERS];
    lock_ctx c;
    pawl_set_wait(PAWL_WAIT_PARK);
    lock->lock(q.l, &c);
    team_start(team, WAITERS, enter, &q);
    await(&q.arrived, WAITERS);
    double use = 100;
    for (int i = 0; i < WINDOWS && use >= PERCENT; i++)
        use = use_of_a_window();
    CHECK(use < PERCENT, "%d waiters use %.1f %% of a CPU", WAITERS, use);
    lock->unlock(q.l, &c);
    team_join(team, WAITERS);
    CHECK(q.entered == WAITERS, "%zu of %d entered", q.entered, WAITERS);
    if (lock->destroy != NULL)
        lock->destroy(q.l);
    free(q.l);
}

static const promise promises[] = {
    {.name = "waiters_sleep_while_the_owner_does", .check = waiters_sleep_while_the_owner_does},
};

HARNESS_MAIN(promises)
