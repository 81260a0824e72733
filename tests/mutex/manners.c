/* manners.c - what pawl_mutex and pawl_fairmutex must not do: touch dead memory, mind signals, burn CPU */
#include "sleepers.h"

#include <pawl/fairmutex.h>
#include <pawl/mutex.h>

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 3, HOLDS = 4, BATCH = 64, POISON = 0xDB, PERCENT = 3 };

/* Both kinds through one table. */
typedef struct kind {
    void (*lock)(void *m);
    void (*unlock)(void *m);
    int (*until)(void *m, int clock, const struct timespec *deadline);
} kind;

#define KIND(name)                                                                                           \
    static void name##_lock(void *m)                                                                         \
    {                                                                                                        \
        pawl_##name##_lock(m);                                                                               \
    }                                                                                                        \
    static void name##_unlock(void *m)                                                                       \
    {                                                                                                        \
        pawl_##name##_unlock(m);                                                                             \
    }                                                                                                        \
    static int name##_until(void *m, int clock, const struct timespec *deadline)                             \
    {                                                                                                        \
        return pawl_##name##_clocklock(m, clock, deadline);                                                  \
    }                                                                                                        \
    static const kind name##_kind = {name##_lock, name##_unlock, name##_until};

KIND(mutex)
KIND(fairmutex)

typedef union any_mutex {
    pawl_mutex mutex;
    pawl_fairmutex fair;
} any_mutex;

static const kind *k;
static any_mutex m PAWL_ALIGNED;
static uint64_t counter;

/* ---- prompt destruction */

typedef struct block {
    any_mutex m;
    int users;
} block;

static block *blocks[BATCH];
static pthread_barrier_t start, finish;

/* A late write shows in the pattern; a late read would find a mutex in no possible state. */
static void use(block *b)
{
    for (int i = 0; i < HOLDS; i++) {
        k->lock(&b->m);
        bool last = --b->users == 0;
        if (i == 1)
            sched_yield();
        k->unlock(&b->m);
        if (last)
#if defined(__SANITIZE_ADDRESS__)
            free(b);
#else
            memset(b, POISON, sizeof *b);
#endif
    }
}

static void check_remains(block *b)
{
#if defined(__SANITIZE_ADDRESS__)
    (void)b;
#else
    for (size_t i = 0; i < sizeof *b; i++)
        CHECK(((unsigned char *)b)[i] == POISON, "byte %zu of a dead block was written", i);
    free(b);
#endif
}

static void demolish(int me, void *arg)
{
    for (size_t round = *(size_t *)arg; round > 0; round--) {
        for (int i = 0; me == 0 && i < BATCH; i++) {
            blocks[i] = calloc(1, sizeof(block));
            blocks[i]->users = THREADS * HOLDS;
        }
        pthread_barrier_wait(&start);
        for (int i = 0; i < BATCH; i++)
            use(blocks[i]);
        pthread_barrier_wait(&finish);
        for (int i = 0; me == 0 && i < BATCH; i++)
            check_remains(blocks[i]);
    }
}

static void last_user_may_free(const lock_info *unused)
{
    (void)unused;
    size_t rounds = scaled(200);
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_barrier_init(&finish, NULL, THREADS);
    team_run(THREADS, demolish, &rounds);
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
        k->lock(&m);
        counter++;
        if (i % 16 == 0)
            rest(20000);
        errno = 4711;
        k->unlock(&m);
        CHECK(errno == 4711, "errno is %d now", errno);
    }
}

static void signals_are_harmless(const lock_info *unused)
{
    (void)unused;
    size_t each = scaled(2000);
    alarm_every(1000);
    team_run(6, count_up, &each);
    CHECK(counter == 6 * each, "increments were lost");
    k->lock(&m);
    int before = alarms;
    do { /* on a busy machine many alarms are one signal */
        struct timespec deadline = in_ns(CLOCK_MONOTONIC, 100000000);
        int64_t begin = clock_ns(CLOCK_MONOTONIC);
        CHECK(k->until(&m, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT, "locked twice");
        CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 99000000, "a signal shortened the wait");
    } while (alarms <= before + 10);
}

static void lock_once(int me, void *arg)
{
    (void)me, (void)arg;
    errno = 4711;
    k->lock(&m);
    CHECK(errno == 4711, "errno is %d after a wait", errno);
    counter++;
    k->unlock(&m);
}

/* Nothing goes on while the owner sleeps. */
static void waiters_use_no_cpu(const lock_info *unused)
{
    (void)unused;
    team_member team[8];
    k->lock(&m);
    team_start(team, 8, lock_once, NULL);
    team_await_asleep(team, 8);
    double use = team_cpu_use(PERCENT);
    k->unlock(&m);
    team_join(team, 8);
    CHECK(counter == 8, "not everybody was served");
    CHECK(use < PERCENT, "8 waiters use %.1f %% of a CPU", use);
}

/* ---- cancellation */

static atomic_bool asked_to_end, was_served;

static void *lock_with_a_request_pending(void *unused)
{
    while (!atomic_load(&asked_to_end))
        sched_yield();
    k->lock(&m);
    atomic_store(&was_served, true);
    k->unlock(&m);
    pthread_testcancel();
    return unused;
}

/* A thread that is unwound in the queue leaves a dead sleeper there. */
static void lock_is_no_cancellation_point(const lock_info *unused)
{
    (void)unused;
    pthread_t waiter;
    void *result;
    k->lock(&m);
    CHECK(pthread_create(&waiter, NULL, lock_with_a_request_pending, NULL) == 0, "no thread");
    pthread_cancel(waiter);
    atomic_store(&asked_to_end, true);
    rest(20000000); /* it may wait by then; if not, this proves less */
    k->unlock(&m);
    CHECK(pthread_join(waiter, &result) == 0 && result == PTHREAD_CANCELED, "was not cancelled afterwards");
    CHECK(atomic_load(&was_served), "was cancelled in lock");
}

/* ---- order of ownership */

static void unlock_it(int me, void *arg)
{
    (void)me, (void)arg;
    k->unlock(&m);
}

static void another_thread_may_unlock(const lock_info *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        team_member team[3];
        k->lock(&m);
        team_start(team, 2, lock_once, NULL);
        team_start(&team[2], 1, unlock_it, NULL);
        team_join(team, 3);
    }
    CHECK(counter == 200, "not everybody was served");
}

#define FOR(kind_, check_)                                                                                   \
    static void check_##_##kind_(const lock_info *unused)                                                    \
    {                                                                                                        \
        k = &kind_##_kind;                                                                                   \
        check_(unused);                                                                                      \
    }

#define EACH(X)                                                                                              \
    X(mutex, last_user_may_free)                                                                             \
    X(mutex, signals_are_harmless)                                                                           \
    X(mutex, waiters_use_no_cpu)                                                                             \
    X(mutex, another_thread_may_unlock)                                                                      \
    X(mutex, lock_is_no_cancellation_point)                                                                  \
    X(fairmutex, last_user_may_free)                                                                         \
    X(fairmutex, signals_are_harmless)                                                                       \
    X(fairmutex, waiters_use_no_cpu)                                                                         \
    X(fairmutex, another_thread_may_unlock)                                                                  \
    X(fairmutex, lock_is_no_cancellation_point)

EACH(FOR)

#define ROW(kind_, check_) {.name = #check_, .check = check_##_##kind_, .subject = #kind_},

static const promise promises[] = {EACH(ROW)};

HARNESS_MAIN(promises)
