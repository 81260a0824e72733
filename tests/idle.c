/* idle.c - threads that wait for a lock whose owner sleeps leave the CPUs to others */
#include "team.h"

#include <stdlib.h>

enum { WAITERS = 15, PERCENT = 3 };

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

static void waiters_sleep_while_the_owner_does(const lock_info *lock)
{
    queue q = {.lock = lock, .l = calloc(1, lock->size)};
    team_member team[WAITERS];
    lock_ctx c;
    pawl_set_wait(PAWL_WAIT_PARK);
    lock->lock(q.l, &c);
    team_start(team, WAITERS, enter, &q);
    await(&q.arrived, WAITERS);
    double use = team_cpu_use(PERCENT);
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
