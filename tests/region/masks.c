/* masks.c - which signals are blocked while a thread asks whether another lives, and that it seldom asks */
#include "scene.h"

#include <sys/syscall.h>

enum { BEFORE_MEMORY = 132 * 1024 }; /* bytes of the region, with the seats in them */

/* The linker puts these before the C library's (--wrap). */
static atomic_int tries, ends, interruptible;
static atomic_int first_key = -1; /* trylocks before this thread's end was provided for */

/* Asked of the kernel: pthread_sigmask() hides the C library's own. */
static uint64_t blocked(void)
{
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return mask;
}

/* All but those of faults, and the two that nobody can block. */
static bool signals_are_blocked(void)
{
    static const int exempt[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    uint64_t wanted = UINT64_MAX;
    for (size_t i = 0; i < sizeof exempt / sizeof *exempt; i++)
        wanted &= ~((uint64_t)1 << (exempt[i] - 1));
    return blocked() == wanted;
}

/* Of a mutex in a seat, that is: the library has others. */
static void note_mask(const pthread_mutex_t *m, atomic_int *calls)
{
    if (region == NULL || (uintptr_t)pawl_region_memory(region) - (uintptr_t)m > BEFORE_MEMORY)
        return;
    atomic_fetch_add(calls, 1);
    atomic_fetch_add(&interruptible, !signals_are_blocked());
}

int __real_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    note_mask(m, &tries);
    return __real_pthread_mutex_trylock(m);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    note_mask(m, &ends);
    return __real_pthread_mutex_unlock(m);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (atomic_load(&first_key) < 0 && signals_are_blocked())
        atomic_store(&first_key, tries);
    return __real_pthread_setspecific(key, value);
}

static void lock_and_end(void *unused)
{
    (void)unused;
    lock();
}

/* A handler that ended the thread there would leave the C library's mutex to nobody. */
static void no_handler_comes_while_a_life_is_asked_for(void)
{
    lock_and_unlock(NULL);
    ends_well(start(lock_and_end, NULL));
    int error = kind->lock(region, &shared->lock);
    CHECK(error == EOWNERDEAD && kind->consistent(region, &shared->lock) == 0, "lock: %s", strerror(error));
    unlock();
    must(pawl_region_leave(region), "leave");
    CHECK(tries >= 2 && ends >= 2 && interruptible == 0, "%d trylocks, %d unlocks, %d interruptible", tries,
          ends, interruptible);
    CHECK(first_key == 0, "who is to leave the seat is noted after %d trylocks", first_key);
    CHECK(!signals_are_blocked(), "signals stay blocked");
}
BOTH(no_handler_comes_while_a_life_is_asked_for)

static void blocked_signals_stay_blocked(void)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    uint64_t before = blocked();
    lock_and_unlock(NULL);
    CHECK(blocked() == before, "%#llx after a seat was taken", (unsigned long long)blocked());
    ends_well(start(lock_and_end, NULL));
    CHECK(kind->trylock(region, &shared->lock) == EOWNERDEAD, "trylock");
    CHECK(blocked() == before, "%#llx after a death was noticed", (unsigned long long)blocked());
    must(kind->consistent(region, &shared->lock), "consistent");
    unlock();
    must(pawl_region_leave(region), "leave");
    CHECK(blocked() == before, "%#llx after the seat was left", (unsigned long long)blocked());
}
BOTH(blocked_signals_stay_blocked)

static volatile sig_atomic_t faults;

static void serve_fault(int number)
{
    (void)number;
    faults++;
    mprotect((char *)shared - BEFORE_MEMORY, BEFORE_MEMORY, PROT_READ | PROT_WRITE);
}

/* As a garbage collector, or one who moves memory, does. Were the signal blocked, the kernel would kill the program. */
static void a_program_may_serve_faults(void)
{
    struct sigaction action = {.sa_handler = serve_fault};
    sigaction(SIGSEGV, &action, NULL);
    CHECK(mprotect((char *)shared - BEFORE_MEMORY, BEFORE_MEMORY, PROT_NONE) == 0, "mprotect: %s",
          strerror(errno));
    lock_and_unlock(NULL); /* touches the seats first while it takes one */
    CHECK(faults == 1, "%d faults", (int)faults);
}
BOTH(a_program_may_serve_faults)

static void *try_in_vain(void *unused)
{
    expect_busy(NULL);
    int before = tries;
    expect_busy(NULL);
    CHECK(tries == before, "%d trylocks of robust mutexes", tries - before);
    return unused;
}

/* A trylock in a loop would make two system calls each time. */
static void nobody_asks_whether_a_running_owner_lives(void)
{
#ifndef __GLIBC__
    skip("only with glibc, whose mutex we know");
#endif
    lock();
    pthread_join(a_thread(try_in_vain, NULL), NULL);
    unlock();
}
BOTH(nobody_asks_whether_a_running_owner_lives)

#define PROMISES(kind)                                                                                       \
    {"no_handler_comes_while_a_life_is_asked_for", kind##_no_handler_comes_while_a_life_is_asked_for, NULL,  \
     #kind "_shared"},                                                                                       \
        {"blocked_signals_stay_blocked", kind##_blocked_signals_stay_blocked, NULL, #kind "_shared"},        \
        {"a_program_may_serve_faults", kind##_a_program_may_serve_faults, NULL, #kind "_shared"},            \
    {                                                                                                        \
        "nobody_asks_whether_a_running_owner_lives", kind##_nobody_asks_whether_a_running_owner_lives, NULL, \
            #kind "_shared"                                                                                  \
    }

static const promise promises[] = {PROMISES(mutex), PROMISES(hapax)};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
