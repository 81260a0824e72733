/* manners.c - what the mutexes must not do while they sleep: end at a signal, change errno, be cancelled */
#include "sleepers.h"

#include <signal.h>
#include <sys/time.h>

enum { THREADS = 6 };

static const lock_info *mutex;
static lock_memory m PAWL_ALIGNED;
static uint64_t counter;

static void lock(void)
{
    lock_ctx c;
    mutex->lock(&m, &c);
}

static void unlock(void)
{
    lock_ctx c;
    mutex->unlock(&m, &c);
}

static bool is_a_mutex(const lock_info *lock)
{
    return lock->clocklock != NULL;
}

/* ---- signals and errno */

static _Atomic(int) alarms; /* any thread may be the one that is interrupted */

static void count_alarm(int unused)
{
    (void)unused;
    atomic_fetch_add_explicit(&alarms, 1, memory_order_relaxed);
}

static void alarm_every(int microseconds)
{
    struct sigaction action = {.sa_handler = count_alarm}; /* no SA_RESTART: system calls return EINTR */
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void count_up(int me, void *arg)
{
    (void)me;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        errno = 4711;
        lock();
        CHECK(errno == 4711, "errno is %d after lock", errno);
        counter++;
        if (i % 16 == 0)
            rest(20000);
        errno = 4711;
        unlock();
        CHECK(errno == 4711, "errno is %d after unlock", errno);
    }
}

static void signals_are_harmless(const lock_info *which)
{
    size_t each = scaled(2000);
    mutex = which;
    alarm_every(1000);
    team_run(THREADS, count_up, &each);
    CHECK(counter == THREADS * each, "increments were lost");
    lock();
    int before = alarms;
    do { /* on a busy machine many alarms are one signal */
        int64_t begin = clock_ns(CLOCK_MONOTONIC);
        struct timespec deadline = in_ns(CLOCK_MONOTONIC, 100000000);
        CHECK(mutex->clocklock(&m, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT, "locked twice");
        CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 99000000, "a signal shortened the wait");
    } while (alarms <= before + 10);
}

/* ---- cancellation */

static atomic_bool asked_to_end, was_served;

static void *lock_with_a_request_pending(void *unused)
{
    while (!atomic_load(&asked_to_end))
        sched_yield();
    lock();
    atomic_store(&was_served, true);
    unlock();
    pthread_testcancel();
    return unused;
}

/* A thread that is unwound in the queue leaves a dead sleeper there. */
static void lock_is_no_cancellation_point(const lock_info *which)
{
    pthread_t waiter;
    void *result;
    mutex = which;
    lock();
    CHECK(pthread_create(&waiter, NULL, lock_with_a_request_pending, NULL) == 0, "no thread");
    pthread_cancel(waiter);
    atomic_store(&asked_to_end, true);
    rest(20000000); /* it may wait by then; if not, this proves less */
    unlock();
    CHECK(pthread_join(waiter, &result) == 0 && result == PTHREAD_CANCELED, "was not cancelled afterwards");
    CHECK(atomic_load(&was_served), "was cancelled in lock");
}

static const promise promises[] = {
    {.name = "signals_are_harmless", .check = signals_are_harmless, .concerns = is_a_mutex},
    {.name = "lock_is_no_cancellation_point", .check = lock_is_no_cancellation_point, .concerns = is_a_mutex},
};

HARNESS_MAIN(promises)
