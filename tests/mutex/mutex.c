/* mutex.c - promises of pawl_mutex */
#include "sleepers.h"

#include <pawl/mutex.h>

#include <sys/resource.h>
#include <sys/syscall.h>

static pawl_mutex mutex PAWL_ALIGNED;
static uint64_t counter; /* guarded by it */
static atomic_int stage, running;
static int threads;

/* ---- exclusion */

static void count_up(int me, void *arg)
{
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        pawl_mutex_lock(&mutex);
        counter++;
        pawl_mutex_unlock(&mutex);
        for (size_t k = draw_below(&random, 64); k > 0; k--)
            __asm__ volatile("");
    }
}

static void excludes(const lock_info *unused)
{
    (void)unused;
    for (threads = 1; threads <= 16; threads++) {
        size_t each = scaled(20000);
        counter = 0;
        team_run(threads, count_up, &each);
        CHECK(counter == each * (size_t)threads, "%d threads: %llu of %zu increments", threads,
              (unsigned long long)counter, each * (size_t)threads);
        CHECK(pawl_mutex_trylock(&mutex), "not free in the end");
        pawl_mutex_unlock(&mutex);
    }
}
WITHOUT_MEMBARRIER(excludes)

/* Owners that give the CPU away with the mutex in hand make everybody sleep, at every place where they can.
 */
static void hold_and_yield(int me, void *arg)
{
    uint64_t random = (uint64_t)me + 99;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        pawl_mutex_lock(&mutex);
        counter++;
        if (draw_below(&random, 4) == 0)
            sched_yield();
        if (draw_below(&random, 100) == 0)
            rest(20000);
        pawl_mutex_unlock(&mutex);
        if (draw_below(&random, 4) == 0)
            sched_yield();
    }
}

static void nobody_sleeps_for_ever(const lock_info *unused)
{
    (void)unused;
    size_t each = scaled(2000);
    team_run(8, hold_and_yield, &each);
    CHECK(counter == 8 * each, "%llu of %zu increments", (unsigned long long)counter, 8 * each);
}
WITHOUT_MEMBARRIER(nobody_sleeps_for_ever)

/* Two mutexes of which the queues share a bucket. There are more mutexes than buckets, so there are two. */
static pawl_mutex many[4 << PAWL_MUTEX_BITS];
static pawl_mutex *neighbour[2];

static void find_neighbours(void)
{
    static pawl_mutex *seen[1 << PAWL_MUTEX_BITS];
    pawl_mutex *m = many;
    for (; seen[pawl_mutex_slot(m)] == NULL; m += 2)
        seen[pawl_mutex_slot(m)] = m;
    neighbour[0] = seen[pawl_mutex_slot(m)];
    neighbour[1] = m;
}

static void count_up_twins(int me, void *arg)
{
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        pawl_mutex *m = neighbour[me % 2];
        pawl_mutex_lock(m);
        m[1].look++; /* any memory of the mutex's own */
        if (i % 64 == 0)
            sched_yield();
        pawl_mutex_unlock(m);
    }
}

static void neighbours_do_not_mix(const lock_info *unused)
{
    (void)unused;
    find_neighbours();
    size_t each = scaled(20000);
    team_run(6, count_up_twins, &each);
    for (int i = 0; i < 2; i++)
        CHECK(neighbour[i][1].look == 3 * each, "increments were lost");
}
WITHOUT_MEMBARRIER(neighbours_do_not_mix)

/* ---- trylock and deadlines */

static void hold_for_others(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&mutex);
    atomic_store(&stage, 1);
    await(&stage, 2);
    pawl_mutex_unlock(&mutex);
}

static void trylock_only_tries(const lock_info *unused)
{
    (void)unused;
    team_member holder;
    team_start(&holder, 1, hold_for_others, NULL);
    await(&stage, 1);
    CHECK(!pawl_mutex_trylock(&mutex), "took a mutex that is held");
    atomic_store(&stage, 2);
    team_join(&holder, 1);
    CHECK(pawl_mutex_trylock(&mutex), "did not take a mutex that is free");
    pawl_mutex_unlock(&mutex);
}

static void expect_timeout(int clock, int64_t ns)
{
    struct timespec deadline = in_ns(clock, ns);
    int64_t start = clock_ns(CLOCK_MONOTONIC);
    int result = pawl_mutex_clocklock(&mutex, clock, &deadline);
    int64_t took = clock_ns(CLOCK_MONOTONIC) - start;
    CHECK(result == ETIMEDOUT, "result %d", result);
    CHECK(took >= ns - 1000000 && took < ns + LATE_NS, "%lld ns instead of %lld", (long long)took,
          (long long)ns);
}

static void deadlines_are_kept(const lock_info *unused)
{
    (void)unused;
    const struct timespec never = {.tv_nsec = 1000000000}, long_ago = {.tv_sec = -1};
    struct timespec later = in_ns(CLOCK_REALTIME, INT64_C(60000000000));
    pawl_mutex_lock(&mutex);
    for (int i = 0; i < 5; i++) {
        expect_timeout(CLOCK_MONOTONIC, 20000000);
        expect_timeout(CLOCK_REALTIME, 20000000);
        expect_timeout(CLOCK_MONOTONIC, -20000000);
    }
    CHECK(pawl_mutex_timedlock(&mutex, &long_ago) == ETIMEDOUT, "before 1970 is not in the past");
    CHECK(pawl_mutex_timedlock(&mutex, &never) == EINVAL, "1000000000 ns are a second");
    CHECK(pawl_mutex_clocklock(&mutex, CLOCK_THREAD_CPUTIME_ID, &later) == EINVAL,
          "a clock nobody can wait for");
    pawl_mutex_unlock(&mutex);
    CHECK(pawl_mutex_timedlock(&mutex, &later) == 0, "not taken though free");
    pawl_mutex_unlock(&mutex);
}

/* Waiters give up all the time, from every place in the queue; the others must not notice. */
static void wait_impatiently(int me, void *arg)
{
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        struct timespec deadline = in_ns(CLOCK_MONOTONIC, (int64_t)draw_below(&random, 200000));
        if (me % 2 == 0)
            pawl_mutex_lock(&mutex);
        else if (pawl_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) != 0)
            continue;
        counter++;
        atomic_fetch_add(&running, 1);
        if (draw_below(&random, 8) == 0)
            rest(30000);
        pawl_mutex_unlock(&mutex);
    }
}

static void giving_up_harms_nobody(const lock_info *unused)
{
    (void)unused;
    size_t each = scaled(1000);
    team_run(8, wait_impatiently, &each);
    CHECK(counter == (uint64_t)atomic_load(&running), "increments were lost");
    CHECK(atomic_load(&mutex.queue) == 0 && pawl_mutex_trylock(&mutex), "not free in the end");
}
WITHOUT_MEMBARRIER(giving_up_harms_nobody)

/* ---- the bound */

static void set_cpu(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        skip("cannot bind to a CPU");
}

/* The one that waits is on the same CPU as the one that barges and hardly ever gets it, unless handed over
 * to. */
static void wait_weakly(int me, void *arg)
{
    (void)me;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    atomic_store(&stage, 1);
    pawl_mutex_lock(&mutex);
    *(uint64_t *)arg = counter;
    atomic_store(&stage, 2);
    pawl_mutex_unlock(&mutex);
}

static void overtaking_is_bounded(const lock_info *unused)
{
    (void)unused;
    set_cpu();
    for (int round = 0; round < 20; round++) {
        uint64_t passed;
        team_member waiter;
        counter = 0;
        atomic_store(&stage, 0);
        pawl_mutex_lock(&mutex);
        team_start(&waiter, 1, wait_weakly, &passed);
        while (atomic_load(&mutex.queue) == 0)
            rest(1000000);
        rest(10000000);
        while (atomic_load_explicit(&stage, memory_order_relaxed) < 2) {
            pawl_mutex_unlock(&mutex);
            pawl_mutex_lock(&mutex);
            counter++;
        }
        pawl_mutex_unlock(&mutex);
        team_join(&waiter, 1);
        CHECK(passed <= PAWL_MUTEX_BYPASS, "overtaken %llu times", (unsigned long long)passed);
    }
}
WITHOUT_MEMBARRIER(overtaking_is_bounded)

static const promise promises[] = {
    BOTH("mutex", excludes),
    BOTH("mutex", nobody_sleeps_for_ever),
    BOTH("mutex", neighbours_do_not_mix),
    ONE("mutex", trylock_only_tries),
    ONE("mutex", deadlines_are_kept),
    BOTH("mutex", giving_up_harms_nobody),
    BOTH("mutex", overtaking_is_bounded),
};

HARNESS_MAIN(promises)
