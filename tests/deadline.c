/* deadline.c - a waiter with a deadline leaves the queue of mcs, and nobody notices */
#include "mutex/sleepers.h"

#include <pawl/detail/nodes.h>

enum { THREADS = 6 };

static pawl_mcs lock;

static int lock_in_vain(int clock, const struct timespec *deadline)
{
    pawl_mcs_ctx c;
    return pawl_mcs_clocklock(&lock, &c, clock, deadline);
}

static void deadlines_are_kept(const lock_info *none)
{
    (void)none;
    struct timespec past = {0}, invalid = {.tv_nsec = 1000000000}, soon = in_ns(CLOCK_REALTIME, 1000000);
    pawl_mcs_ctx c, again;
    CHECK(pawl_mcs_clocklock(&lock, &c, CLOCK_MONOTONIC, &past) == 0, "it is free");
    expect_timeout(lock_in_vain, CLOCK_MONOTONIC, 20000000);
    expect_timeout(lock_in_vain, CLOCK_REALTIME, 20000000);
    CHECK(pawl_mcs_timedlock(&lock, &again, &soon) == ETIMEDOUT, "by the clock on the wall");
    uint64_t tail = atomic_load(&lock.tail);
    CHECK(lock_in_vain(CLOCK_MONOTONIC, &past) == ETIMEDOUT, "a time that is over");
    CHECK(atomic_load(&lock.tail) == tail, "stands in line though it is over");
    CHECK(lock_in_vain(CLOCK_MONOTONIC, &invalid) == EINVAL, "no such time");
    CHECK(lock_in_vain(CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL, "no such clock");
    CHECK(!pawl_mcs_trylock(&lock, &again), "it is held");
    pawl_mcs_unlock(&lock, &c);
    CHECK(atomic_load(&lock.tail) == 0, "all have left, but it is not free");
    CHECK(pawl_mcs_trylock(&lock, &c), "it is free");
    pawl_mcs_unlock(&lock, &c);
}

/* Waiters in a known order; every other one has a deadline, which comes. */
typedef struct line {
    atomic_int arrived, left, entered, log[THREADS];
} line;

static void wait_in_line(int me, void *arg)
{
    line *q = arg;
    pawl_mcs_ctx c;
    while (atomic_load(&q->arrived) != me)
        sched_yield();
    uint64_t tail = atomic_load(&lock.tail);
    if (me % 2 == 1) {
        while (atomic_load(&lock.tail) == tail) { /* it may come too late to stand in line */
            struct timespec soon = in_ns(CLOCK_MONOTONIC, 100000);
            CHECK(pawl_mcs_clocklock(&lock, &c, CLOCK_MONOTONIC, &soon) == ETIMEDOUT, "%d", me);
        }
        atomic_fetch_add(&q->left, 1);
        return;
    }
    atomic_store(&q->log[me], 1); /* about to arrive; the director sees the tail move */
    pawl_mcs_lock(&lock, &c);
    atomic_store(&q->log[me], 2 + atomic_fetch_add(&q->entered, 1));
    pawl_mcs_unlock(&lock, &c);
}

static void those_who_stay_keep_their_order(const lock_info *none)
{
    (void)none;
    for (size_t i = 0; i < scaled(300); i++) {
        line q = {0};
        team_member team[THREADS];
        pawl_mcs_ctx c;
        pawl_mcs_lock(&lock, &c);
        uint64_t tail = atomic_load(&lock.tail);
        team_start(team, THREADS, wait_in_line, &q);
        for (int k = 0; k < THREADS; k += 2) {
            while (atomic_load(&q.log[k]) == 0 || atomic_load(&lock.tail) == tail)
                sched_yield();
            atomic_store(&q.arrived, k + 1); /* lets the next one come, which leaves again */
            while (atomic_load(&q.left) != k / 2 + 1)
                sched_yield();
            tail = atomic_load(&lock.tail);
            atomic_store(&q.arrived, k + 2);
        }
        pawl_mcs_unlock(&lock, &c);
        team_join(team, THREADS);
        for (int k = 0; k < THREADS; k += 2)
            CHECK(q.log[k] == 2 + k / 2, "number %d came as number %d", k / 2, q.log[k] - 2);
        CHECK(atomic_load(&lock.tail) == 0, "somebody was left in the queue");
    }
}

/* Some with deadlines that come or not, some without. */
typedef struct crowd {
    size_t rounds;
    long inside;
    atomic_long entered, left;
} crowd;

static void come_and_go(int me, void *arg)
{
    crowd *x = arg;
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = 0; i < x->rounds; i++) {
        pawl_mcs_ctx c;
        struct timespec soon = in_ns(CLOCK_MONOTONIC, (int64_t)(draw(&random) % 40000));
        if (draw(&random) % 3 == 0) {
            pawl_mcs_lock(&lock, &c);
        } else if (pawl_mcs_clocklock(&lock, &c, CLOCK_MONOTONIC, &soon) != 0) {
            atomic_fetch_add(&x->left, 1);
            continue;
        }
        x->inside++;
        atomic_fetch_add(&x->entered, 1);
        if (draw(&random) % 16 == 0)
            sched_yield();
        pawl_mcs_unlock(&lock, &c);
    }
}

static void nothing_is_lost(const lock_info *none)
{
    (void)none;
    size_t nodes = pawl_nodes_out();
    crowd x = {.rounds = scaled(20000)};
    team_run(THREADS, come_and_go, &x);
    CHECK(x.inside == x.entered, "%ld inside, %ld entered", x.inside, x.entered);
    CHECK((size_t)(x.entered + x.left) == THREADS * x.rounds, "somebody neither came nor went");
    CHECK(atomic_load(&lock.tail) == 0, "somebody was left in the queue");
    CHECK(pawl_nodes_out() <= nodes + PAWL_NODES_KEPT, "%zu nodes are missing", pawl_nodes_out() - nodes);
}

static const promise promises[] = {
    {.name = "deadlines_are_kept", .check = deadlines_are_kept, .subject = "mcs"},
    {.name = "those_who_stay_keep_their_order", .check = those_who_stay_keep_their_order, .subject = "mcs"},
    {.name = "nothing_is_lost", .check = nothing_is_lost, .subject = "mcs"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
