/* locks.c - what the shared locks promise besides surviving deaths (deaths.c) */
#include "scene.h"

/* ---- exclusion */

enum { PROCESSES = 3, THREADS = 2 };

static void add(int me, void *arg)
{
    (void)me;
    for (size_t i = 0; i < *(size_t *)arg; i++) {
        lock();
        shared->counter++;
        unlock();
    }
}

/* In a mapping of its own, elsewhere. */
static void attach_elsewhere(void)
{
    void *inherited = shared;
    region = attached(file);
    shared = pawl_region_memory(region);
    CHECK((void *)shared != inherited, "the second mapping is where the first one is");
}

static void add_elsewhere(void *arg)
{
    attach_elsewhere();
    team_run(THREADS, add, arg);
}

static void loses_nothing(void)
{
    size_t each = scaled(400000);
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        child[i] = start(add_elsewhere, &each);
    for (int i = 0; i < PROCESSES; i++)
        ends_well(child[i]);
    CHECK(shared->counter == (long)(PROCESSES * THREADS * each), "%ld of %zu", shared->counter,
          PROCESSES * THREADS * each);
}
BOTH(loses_nothing)

/* The lock's memory need not be the region's. */
static void lies_anywhere(void)
{
    memory *other = mmap(NULL, sizeof *other, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(other != MAP_FAILED, "mmap");
    shared = other;
    size_t each = scaled(100000);
    pid_t child = fork();
    team_run(THREADS, add, &each); /* the child, too */
    if (child == 0)
        _exit(0);
    ends_well(child);
    CHECK(shared->counter == (long)(2 * THREADS * each), "%ld of %zu", shared->counter, 2 * THREADS * each);
}
BOTH(lies_anywhere)

/* ---- the dead */

static void lock_and_die(void *unused)
{
    (void)unused;
    lock();
    shared->counter = 1;
    kill(getpid(), SIGKILL);
}

static void leave_it_dead(void)
{
    dies(start(lock_and_die, NULL));
}

static void dead_owner_is_told_once(void)
{
    leave_it_dead();
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD && shared->counter == 1,
          "the owner's death is not told");
    CHECK(kind->trylock(region, &shared->lock) == EBUSY, "it is held");
    must(kind->consistent(region, &shared->lock), "consistent");
    CHECK(kind->consistent(region, &shared->lock) == EINVAL, "there is nothing to repair any more");
    unlock();
    lock();
    unlock();
    leave_it_dead();
    CHECK(kind->trylock(region, &shared->lock) == EOWNERDEAD, "trylock does not tell");
    must(kind->consistent(region, &shared->lock), "consistent");
    unlock();
}
BOTH(dead_owner_is_told_once)

static void die_with_it(void *unused)
{
    (void)unused;
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD, "the owner's death is not told");
    kill(getpid(), SIGKILL);
}

static void death_during_repair_is_told_again(void)
{
    leave_it_dead();
    for (int i = 0; i < 5; i++)
        dies(start(die_with_it, NULL));
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD, "the owner's death is forgotten");
    must(kind->consistent(region, &shared->lock), "consistent");
    unlock();
}
BOTH(death_during_repair_is_told_again)

static void expect_broken(void *unused)
{
    (void)unused;
    int error = kind->lock(region, &shared->lock);
    CHECK(error == ENOTRECOVERABLE, "lock: %s", strerror(error));
}

/* Everybody is told, those who wait already, too. */
static void unrepaired_is_not_recoverable(void)
{
    leave_it_dead();
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD, "the owner's death is not told");
    pid_t waiting[3];
    for (int i = 0; i < 3; i++)
        waiting[i] = start(expect_broken, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* usually they wait by now */
    unlock();
    for (int i = 0; i < 3; i++)
        ends_well(waiting[i]);
    expect_broken(NULL);
    CHECK(kind->trylock(region, &shared->lock) == ENOTRECOVERABLE, "trylock does not tell");
    CHECK(kind->unlock(region, &shared->lock) == EPERM, "nobody has it");
    memset(&shared->lock, 0, sizeof shared->lock);
    lock();
    unlock();
}
BOTH(unrepaired_is_not_recoverable)

static void *lock_and_end(void *unused)
{
    lock();
    return unused;
}

/* A thread that ends with the lock is as dead as a process; so is a process that becomes another program. */
static void threads_and_programs_end(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, lock_and_end, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD, "a thread's end is not told");
    must(kind->consistent(region, &shared->lock), "consistent");
    unlock();
    pid_t child = fork();
    if (child == 0) {
        lock();
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    ends_well(child);
    CHECK(kind->lock(region, &shared->lock) == EOWNERDEAD, "exec is not told");
    must(kind->consistent(region, &shared->lock), "consistent");
    unlock();
    must(pawl_region_detach(region), "detach, though a thread ended with a lock");
}
BOTH(threads_and_programs_end)

static void just_lock(void *unused)
{
    (void)unused;
    lock();
}

static void await_other(_Atomic(uint32_t) *word, uint32_t than)
{
    while (atomic_load(word) == than)
        sched_yield();
}

/* The heir dies: another one takes its place, and dies, too, when the lock is reserved for it. It was not inside. */
static void dead_heir_is_replaced(void)
{
    enum { HANDOFF = 2 << 10, RESERVED = 4 << 10 }; /* as in src/region_lock.c */
    lock();
    pid_t heir = start(just_lock, NULL);
    await_other(&shared->lock.heir, 0);
    kill(heir, SIGKILL);
    dies(heir);
    uint32_t dead = atomic_load(&shared->lock.heir);
    heir = start(just_lock, NULL);
    await_other(&shared->lock.heir, dead);
    while (!(atomic_load(&shared->lock.owner) & HANDOFF))
        sched_yield();
    int status;
    kill(heir, SIGSTOP);
    CHECK(waitpid(heir, &status, WUNTRACED) == heir && WIFSTOPPED(status), "the heir does not stop");
    unlock();
    CHECK(atomic_load(&shared->lock.owner) & RESERVED, "it is not reserved for the heir");
    CHECK(kind->trylock(region, &shared->lock) == EBUSY, "it is reserved, and was taken all the same");
    kill(heir, SIGKILL);
    dies(heir);
    lock();
    unlock();
}
BOTH(dead_heir_is_replaced)

static void dead_waiter_does_not_keep_others_from_trying(void)
{
    lock();
    pid_t waiter = start(just_lock, NULL);
    while (atomic_load(&shared->lock.arrive) == 0)
        sched_yield();
    kill(waiter, SIGKILL);
    dies(waiter);
    unlock();
    must(kind->trylock(region, &shared->lock), "trylock");
    unlock();
}
BOTH(dead_waiter_does_not_keep_others_from_trying)

/* ---- mistakes */

/* Names of a seat 0, which does not exist: whoever has overwritten the lock gets errors, or waits; nobody crashes. */
static void nonsense_is_nobody(void)
{
    enum { NONSENSE = 5 << 14 };
    atomic_store(&shared->lock.owner, NONSENSE);
    CHECK(kind->trylock(region, &shared->lock) == EBUSY, "a lock was taken from nobody");
    CHECK(kind->unlock(region, &shared->lock) == EPERM, "a lock was unlocked for nobody");
    atomic_store(&shared->lock.owner, 0);
    atomic_store(&shared->lock.arrive, NONSENSE);
    int error = kind->trylock(region, &shared->lock);
    CHECK(error == (kind == &hapax_kind ? EBUSY : 0), "trylock: %s", strerror(error));
    if (error == 0)
        unlock();
    lock(); /* behind nobody */
    unlock();
}
BOTH(nonsense_is_nobody)

static void *use_wrongly(void *unused)
{
    CHECK(kind->unlock(region, &shared->lock) == EPERM, "another thread may unlock");
    CHECK(kind->consistent(region, &shared->lock) == EINVAL, "another thread may repair");
    CHECK(kind->trylock(region, &shared->lock) == EBUSY, "another thread may lock");
    return unused;
}

static void mistakes_are_told(void)
{
    pthread_t thread;
    CHECK(kind->unlock(region, &shared->lock) == EPERM, "a free lock can be unlocked");
    lock();
    CHECK(kind->lock(region, &shared->lock) == EDEADLK, "a self-deadlock is not told");
    CHECK(pthread_create(&thread, NULL, use_wrongly, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        use_wrongly(NULL); /* it is not the thread that locked */
        must(pawl_region_detach(region), "detach in the child, which has no other thread");
        _exit(0);
    }
    ends_well(child);
    CHECK(pawl_region_leave(region) == EBUSY && pawl_region_detach(region) == EBUSY, "it left with a lock");
    unlock();
    must(pawl_region_leave(region), "leave");
    must(kind->trylock(region, &shared->lock), "trylock, with a new seat");
    CHECK(pawl_region_leave(region) == EBUSY, "it left with a lock that it had tried");
    unlock();
    must(pawl_region_detach(region), "detach");
}
BOTH(mistakes_are_told)

/* ---- order */

static void log_turn(int me, void *unused)
{
    (void)unused;
    lock();
    atomic_store(&shared->log[me], 1 + atomic_fetch_add(&shared->order, 1));
    unlock();
}

/* Whichever lock it is: those who wait get it in the order of their arrival. */
static void waiters_are_served_in_order(void)
{
    enum { WAITERS = 6 };
    team_member team[WAITERS];
    lock();
    for (int i = 0; i < WAITERS; i++) {
        uint64_t last = atomic_load(&shared->lock.arrive);
        team[i] = (team_member){.me = i, .body = log_turn};
        CHECK(pthread_create(&team[i].thread, NULL, team_member_run, &team[i]) == 0, "pthread_create");
        while (atomic_load(&shared->lock.arrive) == last)
            sched_yield();
    }
    unlock();
    team_join(team, WAITERS);
    for (int i = 0; i < WAITERS; i++)
        CHECK(atomic_load(&shared->log[i]) == i + 1, "number %d came as number %d", i + 1, shared->log[i]);
}
BOTH(waiters_are_served_in_order)

static void hog(void *unused)
{
    (void)unused;
    while (!atomic_load(&shared->flag)) {
        lock();
        for (volatile int i = 0; i < 2000; i++)
            ;
        unlock();
    }
}

/* Two that leave it free for an instant at a time, and one that asks now and then. */
static void nobody_starves(void)
{
    pid_t hogs[] = {start(hog, NULL), start(hog, NULL)};
    for (size_t i = 0; i < scaled(400); i++) {
        lock();
        unlock();
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    atomic_store(&shared->flag, 1);
    ends_well(hogs[0]);
    ends_well(hogs[1]);
}
BOTH(nobody_starves)

/* ---- seats */

enum { CROWD = 1023 };
static _Atomic(int) seated;
static pthread_mutex_t may_go = PTHREAD_MUTEX_INITIALIZER;

static void *sit(void *unused)
{
    int error = kind->lock(region, &shared->lock);
    must(error, "lock");
    unlock();
    atomic_fetch_add(&seated, 1);
    pthread_mutex_lock(&may_go);
    pthread_mutex_unlock(&may_go);
    return unused;
}

static void crowd(int threads)
{
    static pthread_t thread[CROWD];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    atomic_store(&seated, 0);
    pthread_mutex_lock(&may_go);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], &small, sit, NULL) != 0)
            skip("this machine does not allow so many threads");
    while (atomic_load(&seated) < threads)
        sched_yield();
    CHECK(kind->lock(region, &shared->lock) == ENOLCK, "there is a seat too many");
    CHECK(kind->trylock(region, &shared->lock) == ENOLCK, "a trylock needs no seat");
    CHECK(pawl_region_detach(region) == EBUSY, "detached from under other threads");
    pthread_mutex_unlock(&may_go);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void seats_are_given_back(void)
{
    ends_well(start(lock_and_unlock, NULL)); /* its seat, too, though nobody saw it leave */
    for (size_t i = 0; i < scaled(2); i++)
        crowd(CROWD);
    lock();
    unlock();
    must(pawl_region_detach(region), "detach");
}
BOTH(seats_are_given_back)

#define PROMISES(kind)                                                                                       \
    {"loses_nothing", kind##_loses_nothing, NULL, #kind "_shared"},                                          \
        {"lies_anywhere", kind##_lies_anywhere, NULL, #kind "_shared"},                                      \
        {"dead_owner_is_told_once", kind##_dead_owner_is_told_once, NULL, #kind "_shared"},                  \
        {"death_during_repair_is_told_again", kind##_death_during_repair_is_told_again, NULL,                \
         #kind "_shared"},                                                                                   \
        {"unrepaired_is_not_recoverable", kind##_unrepaired_is_not_recoverable, NULL, #kind "_shared"},      \
        {"threads_and_programs_end", kind##_threads_and_programs_end, NULL, #kind "_shared"},                \
        {"dead_heir_is_replaced", kind##_dead_heir_is_replaced, NULL, #kind "_shared"},                      \
        {"dead_waiter_does_not_keep_others_from_trying",                                                     \
         kind##_dead_waiter_does_not_keep_others_from_trying, NULL, #kind "_shared"},                        \
        {"nonsense_is_nobody", kind##_nonsense_is_nobody, NULL, #kind "_shared"},                            \
        {"mistakes_are_told", kind##_mistakes_are_told, NULL, #kind "_shared"},                              \
        {"waiters_are_served_in_order", kind##_waiters_are_served_in_order, NULL, #kind "_shared"},          \
        {"nobody_starves", kind##_nobody_starves, NULL, #kind "_shared"},                                    \
    {                                                                                                        \
        "seats_are_given_back", kind##_seats_are_given_back, NULL, #kind "_shared"                           \
    }

static const promise promises[] = {PROMISES(mutex), PROMISES(hapax)};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
