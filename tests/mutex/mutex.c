/* mutex.c - promises of pawl_mutex */
#include "sleepers.h"

#include "../../src/mutex.h"

#include <signal.h>

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

/* Owners that give the CPU away while they hold the mutex make everybody sleep, wherever they can. */
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

/* Two mutexes whose queues share a bucket. There are more mutexes than buckets, so two exist. */
static struct {
    pawl_mutex mutex;
    uint64_t count; /* guarded by it */
} many[2048], *neighbour[2];

static void find_neighbours(void)
{
    for (size_t i = 1; i < sizeof many / sizeof *many; i++)
        if (pawl_bucket_of(&many[i].mutex) == pawl_bucket_of(&many[0].mutex)) {
            neighbour[0] = &many[0];
            neighbour[1] = &many[i];
            return;
        }
    CHECK(false, "no two mutexes share a bucket");
}

static void count_up_twins(int me, void *arg)
{
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        pawl_mutex_lock(&neighbour[me % 2]->mutex);
        neighbour[me % 2]->count++;
        if (i % 64 == 0)
            sched_yield();
        pawl_mutex_unlock(&neighbour[me % 2]->mutex);
    }
}

static void neighbours_do_not_mix(const lock_info *unused)
{
    (void)unused;
    find_neighbours();
    size_t each = scaled(20000);
    team_run(6, count_up_twins, &each);
    for (int i = 0; i < 2; i++)
        CHECK(neighbour[i]->count == 3 * each, "increments were lost");
}

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

static int lock_until(int clock, const struct timespec *deadline)
{
    return pawl_mutex_clocklock(&mutex, clock, deadline);
}

static void deadlines_are_kept(const lock_info *unused)
{
    (void)unused;
    const struct timespec never = {.tv_nsec = 1000000000}, long_ago = {.tv_sec = -1};
    struct timespec later = in_ns(CLOCK_REALTIME, INT64_C(60000000000));
    pawl_mutex_lock(&mutex);
    for (int i = 0; i < 5; i++) {
        expect_timeout(lock_until, CLOCK_MONOTONIC, 20000000);
        expect_timeout(lock_until, CLOCK_REALTIME, 20000000);
        expect_timeout(lock_until, CLOCK_MONOTONIC, -20000000);
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

/* ---- the bound */

/* Each of these has one thread in the queue, and an owner that passes it. */
static atomic_bool served;
static team_member sleeper;

static uint32_t queue(void)
{
    return atomic_load_explicit(&mutex.queue, memory_order_relaxed);
}

static void lock_once(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&mutex);
    atomic_store(&served, true);
    pawl_mutex_unlock(&mutex);
}

/* Returns with the mutex held, and the sleeper behind it. */
static void start_sleeper(void)
{
    atomic_store(&served, false);
    pawl_mutex_lock(&mutex);
    team_start(&sleeper, 1, lock_once, NULL);
    while (queue() == 0)
        rest(100000);
}

static void pass_by(size_t sections)
{
    for (; sections > 0 && !atomic_load(&served); sections--) {
        pawl_mutex_unlock(&mutex);
        pawl_mutex_lock(&mutex);
    }
}

/* A section that lasts until the sleeper's share is over and it has noticed. The next one is the sleeper's. */
static void expect_handoff(const char *when)
{
    while (!atomic_load(&served) && !(queue() & PAWL_M_HANDOFF))
        rest(100000);
    pawl_mutex_unlock(&mutex);
    pawl_mutex_lock(&mutex);
    CHECK(atomic_load(&served), "%s: passed once more after its share was over", when);
    pawl_mutex_unlock(&mutex);
    team_join(&sleeper, 1);
}

static void a_deadline_is_kept_behind_others(const lock_info *unused)
{
    (void)unused;
    start_sleeper();
    expect_timeout(lock_until, CLOCK_MONOTONIC, 20000000);
    expect_timeout(lock_until, CLOCK_REALTIME, 20000000);
    pawl_mutex_unlock(&mutex);
    team_join(&sleeper, 1);
}

/* While the mutex is held, even once it has asked for it. */
static void the_head_sleeps(const lock_info *unused)
{
    (void)unused;
    start_sleeper();
    team_await_asleep(&sleeper, 1);
    while (!(queue() & PAWL_M_HANDOFF))
        rest(100000);
    team_await_asleep(&sleeper, 1);
    pawl_mutex_unlock(&mutex);
    team_join(&sleeper, 1);
}

/* However short the sections were before. */
static void no_two_long_sections_pass_a_sleeper(const lock_info *unused)
{
    (void)unused;
    for (size_t before = 0; before <= scaled(2000); before = 2 * before + 1) {
        start_sleeper();
        pass_by(before);
        expect_handoff("short sections before");
    }
}

/* Whoever waited before, and gave up. */
static void give_up(int me, void *arg)
{
    (void)arg;
    struct timespec deadline = in_ns(CLOCK_MONOTONIC, 1000000 * (me + 1));
    if (pawl_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == 0)
        pawl_mutex_unlock(&mutex);
}

static void no_leaver_costs_a_sleeper_its_share(const lock_info *unused)
{
    (void)unused;
    for (int round = 0; round < 10; round++) {
        team_member leavers[3];
        pawl_mutex_lock(&mutex);
        team_start(leavers, 3, give_up, NULL);
        pass_by(100);
        rest(1000000);
        pass_by(100);
        pawl_mutex_unlock(&mutex);
        team_join(leavers, 3);
        start_sleeper();
        pass_by(100);
        expect_handoff("others gave up");
    }
}

/* A signal keeps the sleeper from running. */
static atomic_int stuck; /* 1 while it is, 2 to let it go */

static void be_stuck(int signal)
{
    (void)signal;
    atomic_store(&stuck, 1);
    while (atomic_load(&stuck) != 2)
        rest(100000);
    atomic_store(&stuck, 0);
}

static void keep_sleeper_from_running(void)
{
    struct sigaction action = {.sa_handler = be_stuck};
    sigaction(SIGUSR1, &action, NULL);
    for (;;) {
        pthread_kill(sleeper.thread, SIGUSR1);
        while (atomic_load(&stuck) != 1)
            rest(100000);
        if (atomic_load(&pawl_bucket_of(&mutex)->lock) == 0)
            return;
        atomic_store(&stuck,
                     2); /* this holds up the whole bucket, which no thread may do for long: try again */
        while (atomic_load(&stuck) != 0)
            rest(100000);
    }
}

/* Then it cannot ask, and the owner sees to it. */
static void a_sleeper_that_cannot_run_is_served(const lock_info *unused)
{
    (void)unused;
    for (int round = 0; round < 5; round++) {
        start_sleeper();
        keep_sleeper_from_running();
        bool mine = true;
        while (mine) {
            pawl_mutex_unlock(&mutex);
            mine = pawl_mutex_trylock(&mutex);
        }
        CHECK(!atomic_load(&served), "not stuck at all");
        atomic_store(&stuck, 2);
        team_join(&sleeper, 1);
        CHECK(atomic_load(&served), "not handed the mutex");
    }
}

static const promise promises[] = {
    ONE("mutex", excludes),
    ONE("mutex", nobody_sleeps_for_ever),
    ONE("mutex", neighbours_do_not_mix),
    ONE("mutex", trylock_only_tries),
    ONE("mutex", deadlines_are_kept),
    ONE("mutex", giving_up_harms_nobody),
    ONE("mutex", a_deadline_is_kept_behind_others),
    ONE("mutex", the_head_sleeps),
    ONE("mutex", no_two_long_sections_pass_a_sleeper),
    ONE("mutex", no_leaver_costs_a_sleeper_its_share),
    ONE("mutex", a_sleeper_that_cannot_run_is_served),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
