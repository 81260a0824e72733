/* reentry.c - a signal handler that interrupts its thread while that holds a bucket's lock
 *
 * Built as inside libpawl-<lock>.so. No signal is needed: a thread that holds a bucket's lock and calls what needs
 * the same lock is in the position of such a handler.
 */
#include "../step.h"
#include "still.h"

#include <pawl/cond.h>
#include <pawl/fairmutex.h>
#include <pawl/mutex.h>
#include "../../src/reentry.h"

#include <stdio.h>

enum { WAITERS = 2 };

static pawl_fairmutex fair PAWL_ALIGNED;
static pawl_cond cond PAWL_ALIGNED;
static atomic_int turn, woken;

static void a_thread_knows_its_buckets(const lock_info *unused)
{
    (void)unused;
    static pawl_mutex many[1000];
    int other = 1, third;
    while (pawl_bucket_of(&many[other]) == pawl_bucket_of(&many[0]))
        other++;
    for (third = other + 1; pawl_bucket_of(&many[third]) == pawl_bucket_of(&many[0]) ||
                            pawl_bucket_of(&many[third]) == pawl_bucket_of(&many[other]);)
        third++;
    CHECK(!pawl_is_reentry(&many[0]), "in it from the start");
    pawl_bucket *outer = pawl_bucket_lock(&many[0]);
    CHECK(pawl_is_reentry(&many[0]) && !pawl_is_reentry(&many[other]), "in another one");
    pawl_bucket *inner = pawl_bucket_lock(&many[other]);
    CHECK(pawl_is_reentry(&many[0]) && pawl_is_reentry(&many[other]) && !pawl_is_reentry(&many[third]),
          "not in both");
    pawl_bucket_unlock(inner);
    CHECK(pawl_is_reentry(&many[0]) && !pawl_is_reentry(&many[other]), "still in the inner one");
    pawl_bucket_unlock(outer);
    inner = pawl_bucket_lock(&many[third]);
    CHECK(!pawl_is_reentry(&many[0]) && !pawl_is_reentry(&many[other]), "still in one of them");
    pawl_bucket_unlock(inner);
    inner = pawl_bucket_trylock(&many[0]);
    CHECK(inner != NULL && pawl_is_reentry(&many[0]), "not in the one that it tried");
    CHECK(pawl_bucket_trylock(&many[0]) == NULL && pawl_is_reentry(&many[0]), "it is taken");
    pawl_bucket_unlock(inner);
    CHECK(!pawl_is_reentry(&many[0]), "still in the one that it tried");
    atomic_store(&pawl_bucket_of(&many[0])->lock, 1); /* as if by another thread */
    CHECK(pawl_bucket_trylock(&many[0]) == NULL && !pawl_is_reentry(&many[0]), "in what it did not get");
    atomic_store(&pawl_bucket_of(&many[0])->lock, 0);
}

static void enter_another(void *key)
{
    pawl_bucket_unlock(pawl_bucket_lock(key));
}

static bool expect_not_in(int instruction)
{
    CHECK(!pawl_is_reentry(&mutex), "still in it at instruction %d", instruction);
    return true;
}

/* An address; nothing is there. */
static const void *in_another_bucket(void)
{
    uintptr_t key = (uintptr_t)&mutex;
    while (pawl_bucket_of((const void *)key) == pawl_bucket_of(&mutex))
        key += sizeof mutex;
    return (const void *)key;
}

static void a_handler_at_any_time_finds_no_bucket_of_before(const lock_info *unused)
{
    (void)unused;
    if (!step_possible())
        skip("no single steps here");
    enter_another(&mutex);
    step_through(enter_another, (void *)(uintptr_t)in_another_bucket(), expect_not_in);
}

/* ---- deferred work */

static int done[8], count;
static pawl_bucket *held;

static void note(void *number)
{
    CHECK(!pawl_is_reentry(&mutex), "not yet");
    errno = EINTR;
    done[count++] = *(int *)number;
}

static void deferred_work_is_done_once(const lock_info *unused)
{
    (void)unused;
    static int one = 1, two = 2;
    held = pawl_bucket_lock(&mutex);
    pawl_bucket *inner = pawl_bucket_lock(in_another_bucket());
    pawl_reentry_defer(note, &one);
    pawl_reentry_defer(note, &two);
    pawl_bucket_unlock(inner);
    CHECK(count == 0, "done too early");
    errno = 77;
    pawl_bucket_unlock(held);
    CHECK(errno == 77, "errno is %d", errno);
    CHECK(count == 2 && done[0] + done[1] == 3, "%d were done", count);
    held = pawl_bucket_lock(&mutex);
    pawl_bucket_unlock(held);
    CHECK(count == 2, "done again");
}

static long pages(void)
{
    long size = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fscanf(f, "%ld", &size) == 1, "no /proc/self/statm");
    fclose(f);
    return size;
}

static void nothing(void *unused)
{
    (void)unused;
}

static void deferring_costs_nothing_that_lasts(const lock_info *unused)
{
    (void)unused;
    long before = pages();
    for (int i = 0; i < 1000; i++) {
        held = pawl_bucket_lock(&mutex);
        pawl_reentry_defer(nothing, NULL);
        pawl_bucket_unlock(held);
    }
    CHECK(pages() < before + 500, "%ld pages more", pages() - before);
}

/* ---- taking a lock that another thread has */

static void hold_mutex(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&mutex);
    atomic_store(&turn, 1);
    await(&turn, 2);
    rest(1000000); /* the other one may have begun to wait */
    pawl_mutex_unlock(&mutex);
}

static void hold_fair(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_fairmutex_lock(&fair);
    atomic_store(&turn, 1);
    await(&turn, 2);
    rest(1000000);
    pawl_fairmutex_unlock(&fair);
}

static int take_mutex(const struct timespec *deadline)
{
    return pawl_mutex_clocklock(&mutex, CLOCK_MONOTONIC, deadline);
}

static int take_fair(const struct timespec *deadline)
{
    return pawl_fairmutex_clocklock(&fair, CLOCK_MONOTONIC, deadline);
}

/* With a deadline that comes, one that does not, and none. */
static void take(const void *lock, void (*hold)(int, void *), int (*timed)(const struct timespec *),
                 void (*untimed)(void), bool (*try)(void), void (*release)(void))
{
    for (int round = 0; round < 2; round++) {
        team_member team[1];
        atomic_store(&turn, 0);
        team_start(team, 1, hold, NULL);
        await(&turn, 1);
        held = pawl_bucket_lock(lock);
        struct timespec soon = in_ns(CLOCK_MONOTONIC, 3000000),
                        far = in_ns(CLOCK_MONOTONIC, INT64_C(1) << 40);
        CHECK(timed(&soon) == ETIMEDOUT, "taken from its owner");
        CHECK(clock_ns(CLOCK_MONOTONIC) >= soon.tv_sec * INT64_C(1000000000) + soon.tv_nsec, "gave up early");
        atomic_store(&turn, 2);
        if (round == 0)
            CHECK(timed(&far) == 0, "not taken");
        else
            untimed();
        CHECK(!try(), "taken, and free");
        pawl_bucket_unlock(held);
        team_join(team, 1);
        release();
        CHECK(try(), "not free after all");
        release();
    }
}

static void lock_mutex(void)
{
    pawl_mutex_lock(&mutex);
}

static bool try_mutex(void)
{
    return pawl_mutex_trylock(&mutex);
}

static void unlock_mutex(void)
{
    pawl_mutex_unlock(&mutex);
}

static void a_mutex_can_be_taken(const lock_info *unused)
{
    (void)unused;
    take(&mutex, hold_mutex, take_mutex, lock_mutex, try_mutex, unlock_mutex);
}

static void lock_fair(void)
{
    pawl_fairmutex_lock(&fair);
}

static bool try_fair(void)
{
    return pawl_fairmutex_trylock(&fair);
}

static void unlock_fair(void)
{
    pawl_fairmutex_unlock(&fair);
}

static void a_fairmutex_can_be_taken(const lock_info *unused)
{
    (void)unused;
    take(&fair, hold_fair, take_fair, lock_fair, try_fair, unlock_fair);
}

/* ---- releasing what others wait for */

static void want(int me, void *arg)
{
    (void)me;
    void (*const *calls)(void) = arg;
    calls[0]();
    atomic_fetch_add(&woken, 1);
    calls[1]();
}

static bool mutex_is_wanted(void)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    const pawl_sleeper *first = pawl_queue_first(b, &mutex);
    bool all = first != NULL && first->length == WAITERS;
    pawl_bucket_unlock(b);
    return all;
}

static bool fair_is_wanted(void)
{
    return atomic_load(&fair.word) > 2;
}

static void release(const void *lock, void (*const *calls)(void), bool (*is_wanted)(void))
{
    team_member team[WAITERS];
    calls[0]();
    team_start(team, WAITERS, want, (void *)(uintptr_t)calls);
    while (!is_wanted())
        sched_yield();
    held = pawl_bucket_lock(lock);
    calls[1]();
    pawl_bucket_unlock(held);
    team_join(team, WAITERS);
    CHECK(atomic_load(&woken) == WAITERS, "%d had it", atomic_load(&woken));
}

static void a_mutex_can_be_released(const lock_info *unused)
{
    (void)unused;
    static void (*const calls[])(void) = {lock_mutex, unlock_mutex};
    release(&mutex, calls, mutex_is_wanted);
}

static void a_fairmutex_can_be_released(const lock_info *unused)
{
    (void)unused;
    static void (*const calls[])(void) = {lock_fair, unlock_fair};
    release(&fair, calls, fair_is_wanted);
}

/* Its own timer would make up for it, if it has one yet. */
static void the_head_is_woken_later(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
    held = pawl_bucket_lock(&mutex);
    pawl_mutex_unlock(&mutex);
    CHECK(!is_held() && state_of(w) == PAWL_ASLEEP, "not released, or more than that");
    pawl_bucket_unlock(held);
    CHECK(state_of(w) == PAWL_AWAKE && queue() == UP, "sleeps beside a free mutex");
    behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
    held = pawl_bucket_lock(&mutex);
    pawl_mutex_unlock(&mutex);
    pawl_mutex_dequeue(held, &mutex, w);
    pawl_bucket_unlock(held);
    CHECK(queue() == 0 && first() == NULL, "somebody else was woken");
}

/* ---- signalling */

static int go;

static void wait_to_go(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&mutex);
    int seen = go;
    while (go == seen)
        pawl_cond_wait(&cond, &mutex);
    atomic_fetch_add(&woken, 1);
    pawl_mutex_unlock(&mutex);
}

/* Holds the bucket of the condition variable, or that of the mutex to which a signal moves the waiter. */
static void signal_inside(const void *bucket, void (*signal)(pawl_cond *), int times)
{
    team_member team[WAITERS];
    atomic_store(&woken, 0);
    team_start(team, WAITERS, wait_to_go, NULL);
    while (atomic_load(&cond.waiters) != WAITERS)
        sched_yield();
    team_await_asleep(team, WAITERS); /* who still looks is told, not moved */
    pawl_mutex_lock(&mutex);
    go++;
    pawl_mutex_unlock(&mutex);
    held = pawl_bucket_lock(bucket);
    for (int i = 0; i < times; i++)
        signal(&cond);
    pawl_bucket_unlock(held);
    team_join(team, WAITERS);
    CHECK(atomic_load(&woken) == WAITERS, "%d woke up", atomic_load(&woken));
}

static void signals_arrive(const lock_info *unused)
{
    (void)unused;
    signal_inside(&cond, pawl_cond_signal, WAITERS);
    signal_inside(&cond, pawl_cond_broadcast, 1);
    signal_inside(&mutex, pawl_cond_signal, WAITERS);
    signal_inside(&mutex, pawl_cond_broadcast, 1);
}

static const promise promises[] = {
    ONE("reentry", a_handler_at_any_time_finds_no_bucket_of_before),
    ONE("reentry", a_thread_knows_its_buckets),
    ONE("reentry", deferred_work_is_done_once),
    ONE("reentry", deferring_costs_nothing_that_lasts),
    ONE("reentry", a_mutex_can_be_taken),
    ONE("reentry", a_fairmutex_can_be_taken),
    ONE("reentry", a_mutex_can_be_released),
    ONE("reentry", a_fairmutex_can_be_released),
    ONE("reentry", the_head_is_woken_later),
    ONE("reentry", signals_arrive),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
