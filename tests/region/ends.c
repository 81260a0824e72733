/* ends.c - threads that end in unusual ways, or with signals: who waits for them is told */
#include "scene.h"

#include <sys/time.h>

enum { MARKED = 1 << 10 }; /* WAITERS of src/region_word.h */

static void lock_and_stay(void *unused)
{
    (void)unused;
    lock();
    atomic_store(&shared->flag, 1);
    for (;;)
        pause();
}

static void just_lock(void *unused)
{
    (void)unused;
    lock();
    unlock();
}

static void await_arrival(uint64_t last)
{
    while (atomic_load(&shared->lock.arrive) == last)
        sched_yield();
}

/* ---- signals */

static void count(int number)
{
    (void)number;
    atomic_fetch_add(&shared->order, 1);
}

/* After some of them, a waiter sleeps for much longer than it takes for the next. */
static void await_signals(void)
{
    int so_far = atomic_load(&shared->order);
    while (atomic_load(&shared->order) < so_far + 50)
        sched_yield();
}

static void get_signals(void)
{
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer: %s", strerror(errno));
}

static void inherit_with_signals(void *unused)
{
    (void)unused;
    get_signals();
    int error = kind->lock(region, &shared->lock);
    CHECK(error == EOWNERDEAD, "lock: %s", strerror(error));
}

static void lock_with_signals(void *unused)
{
    get_signals();
    just_lock(unused);
}

static void signals_hide_no_dead_owner(void)
{
    pid_t owner = start(lock_and_stay, NULL);
    while (!atomic_load(&shared->flag))
        sched_yield();
    pid_t waiter = start(inherit_with_signals, NULL);
    while (!(atomic_load(&shared->lock.owner) & MARKED))
        sched_yield();
    await_signals();
    kill(owner, SIGKILL);
    dies(owner);
    ends_well(waiter);
}
BOTH(signals_hide_no_dead_owner)

static void signals_hide_no_dead_waiter(void)
{
    lock();
    pid_t first = start(just_lock, NULL);
    await_arrival(0);
    uint64_t last = atomic_load(&shared->lock.arrive);
    pid_t second = start(lock_with_signals, NULL);
    await_arrival(last);
    await_signals();
    kill(first, SIGKILL);
    dies(first);
    unlock();
    ends_well(second);
}
BOTH(signals_hide_no_dead_waiter)

#define PROMISES(kind)                                                                                       \
    {"signals_hide_no_dead_owner", kind##_signals_hide_no_dead_owner, NULL, #kind "_shared"},                \
    {                                                                                                        \
        "signals_hide_no_dead_waiter", kind##_signals_hide_no_dead_waiter, NULL, #kind "_shared"             \
    }

static const promise promises[] = {PROMISES(mutex), PROMISES(hapax)};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
