/* ends.c - threads that end in unusual ways, or with signals: who waits for them is told */
#include "scene.h"
#include "../step.h"

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
    lock_and_unlock(unused);
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
    pid_t first = start(lock_and_unlock, NULL);
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

/* ---- threads */

static void *lock_in_thread(void *unused)
{
    lock_and_unlock(unused);
    return unused;
}

static void end_thread(int number)
{
    (void)number;
    pthread_exit(NULL);
}

static void *exit_at_once(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

/* It is dead in line, though not by the kernel's hand. */
static void waiter_may_end_in_a_handler(void)
{
    signal(SIGUSR1, end_thread);
    pthread_join(a_thread(exit_at_once, NULL),
                 NULL); /* the first one allocates memory, which a handler must not */
    lock();
    pthread_t first = a_thread(lock_in_thread, NULL);
    await_arrival(0);
    uint64_t last = atomic_load(&shared->lock.arrive);
    pthread_t second = a_thread(lock_in_thread, NULL);
    await_arrival(last);
    pthread_kill(first, SIGUSR1);
    pthread_join(first, NULL);
    unlock();
    pthread_join(second, NULL);
    must(kind->trylock(region, &shared->lock), "trylock");
    unlock();
}
BOTH(waiter_may_end_in_a_handler)

static int end_at;
static volatile bool locked;

static bool end_there(int instruction)
{
    if (instruction == end_at && !locked)
        pthread_exit(NULL);
    return !locked;
}

static void lock_once(void *unused)
{
    (void)unused;
    lock();
    locked = true;
}

/* Has a seat already. Returns how far it came. */
static void *lock_by_steps(void *end)
{
    lock_and_unlock(NULL);
    *(int *)end = step_through(lock_once, NULL, end_there);
    unlock();
    return end;
}

/* Whether it owned the lock by then or not, nobody waits for it. */
static void locker_may_end_in_a_handler(void)
{
    if (!step_possible())
        skip("only on x86-64, without a sanitizer");
    pthread_join(a_thread(exit_at_once, NULL), NULL);
    int end = 0;
    for (end_at = 0; end == 0; end_at++) {
        pthread_join(a_thread(lock_by_steps, &end), NULL);
        int error = kind->trylock(region, &shared->lock);
        CHECK(error == 0 || error == EOWNERDEAD, "instruction %d, then trylock: %s", end_at, strerror(error));
        CHECK(error == 0 || kind->consistent(region, &shared->lock) == 0, "instruction %d", end_at);
        unlock();
    }
    CHECK(end_at > 10, "%d instructions", end_at);
}
BOTH(locker_may_end_in_a_handler)

static pthread_key_t late;

/* In the second round, when all other destructors have run once. */
static void unlock_late(void *again)
{
    if (again != NULL && !atomic_exchange(&shared->flag, 1)) {
        pthread_setspecific(late, again);
        return;
    }
    pthread_join(a_thread(expect_busy, NULL), NULL);
    unlock();
}

static void *lock_until_the_end(void *arg)
{
    pthread_setspecific(late, arg);
    lock();
    return arg;
}

static void destructor_may_unlock(void)
{
    CHECK(pthread_key_create(&late, unlock_late) == 0, "pthread_key_create");
    pthread_join(a_thread(lock_until_the_end, &late), NULL);
    lock();
    unlock();
    must(pawl_region_detach(region), "detach");
}
BOTH(destructor_may_unlock)

/* ---- fork */

static void sit_elsewhere(void *unused)
{
    region = attached(file);
    expect_busy(unused);
}

/* If the C library leaves the child its parent's list of robust mutexes, the child's seat gets in there, at an address
 * that means nothing in the parent. */
static void childs_seat_is_not_its_parents(void)
{
    lock();
    ends_well(start(sit_elsewhere, NULL));
    pthread_join(a_thread(expect_busy, NULL), NULL);
    unlock();
    must(pawl_region_leave(region), "leave");
}
BOTH(childs_seat_is_not_its_parents)

#define PROMISES(kind)                                                                                       \
    {"signals_hide_no_dead_owner", kind##_signals_hide_no_dead_owner, NULL, #kind "_shared"},                \
        {"signals_hide_no_dead_waiter", kind##_signals_hide_no_dead_waiter, NULL, #kind "_shared"},          \
        {"waiter_may_end_in_a_handler", kind##_waiter_may_end_in_a_handler, NULL, #kind "_shared"},          \
        {"locker_may_end_in_a_handler", kind##_locker_may_end_in_a_handler, NULL, #kind "_shared"},          \
        {"destructor_may_unlock", kind##_destructor_may_unlock, NULL, #kind "_shared"},                      \
    {                                                                                                        \
        "childs_seat_is_not_its_parents", kind##_childs_seat_is_not_its_parents, NULL, #kind "_shared"       \
    }

static const promise promises[] = {PROMISES(mutex), PROMISES(hapax)};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
