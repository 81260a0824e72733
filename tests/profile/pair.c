/* pair.c - what a lock and unlock costs: pair [KIND [waited | count]] | pair THREADS LOCKS
 *
 * Prints nanoseconds. With a kind of lock, or nothing: of the fastest round of an uncontended lock, so that nothing else that runs
 * counts; with `waited`, of a mutex that a thread had to wait for before; with `count`, instructions of a pair instead. Exit status 4: not on
 * this machine.
 * With numbers, CPU time for each acquisition by so many threads of mutexes chosen at random, with some work in between.
 */
#include "asleep.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2000, PAIRS = 1000, TOTAL = 4000000, WORK = 80, MOST = 1024 };

static pthread_mutex_t locks[MOST];
static int threads, lock_count;

/* ---- kinds of locks */

static pthread_spinlock_t spin;
static mtx_t c11;

static void lock_mutex(void)
{
    pthread_mutex_lock(&locks[0]);
}

static void unlock_mutex(void)
{
    pthread_mutex_unlock(&locks[0]);
}

static void try_mutex(void)
{
    if (pthread_mutex_trylock(&locks[0]) != 0)
        exit(3);
}

static void lock_spin(void)
{
    pthread_spin_lock(&spin);
}

static void unlock_spin(void)
{
    pthread_spin_unlock(&spin);
}

static void try_spin(void)
{
    if (pthread_spin_trylock(&spin) != 0)
        exit(3);
}

static void lock_c11(void)
{
    mtx_lock(&c11);
}

static void unlock_c11(void)
{
    mtx_unlock(&c11);
}

typedef struct kind {
    const char *name;
    int type; /* of locks[0] */
    void (*lock)(void), (*unlock)(void);
} kind;

static const kind kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, lock_mutex, unlock_mutex},
    {"default", PTHREAD_MUTEX_DEFAULT, lock_mutex, unlock_mutex},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, lock_mutex, unlock_mutex},
    {"checked", PTHREAD_MUTEX_ERRORCHECK, lock_mutex, unlock_mutex},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, lock_mutex, unlock_mutex},
    {"try", PTHREAD_MUTEX_NORMAL, try_mutex, unlock_mutex},
    {"try-recursive", PTHREAD_MUTEX_RECURSIVE, try_mutex, unlock_mutex},
    {"try-checked", PTHREAD_MUTEX_ERRORCHECK, try_mutex, unlock_mutex},
    {"try-adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, try_mutex, unlock_mutex},
    {"spin", PTHREAD_MUTEX_NORMAL, lock_spin, unlock_spin},
    {"try-spin", PTHREAD_MUTEX_NORMAL, try_spin, unlock_spin},
    {"c11", PTHREAD_MUTEX_NORMAL, lock_c11, unlock_c11},
};
static const kind *measured = &kinds[0];

static void begin(const char *name)
{
    pthread_mutexattr_t how;
    for (measured = kinds; strcmp(measured->name, name) != 0;)
        if (++measured == kinds + sizeof kinds / sizeof *kinds)
            exit(2);
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, measured->type);
    pthread_mutex_init(&locks[0], &how);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11, mtx_plain);
}

/* ---- nanoseconds */

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* There must be a second thread: glibc's mutex is cheaper for a process that has one. */
static void *stay(void *argument)
{
    pause();
    return argument;
}

static pid_t waiter;

static void *wait_once(void *argument)
{
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    measured->lock();
    measured->unlock();
    return argument;
}

static void let_one_wait(void)
{
    pthread_t other;
    measured->lock();
    pthread_create(&other, NULL, wait_once, NULL);
    while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0 || !is_asleep(waiter))
        nap(1);
    measured->unlock();
    pthread_join(other, NULL);
}

static double fastest_round(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = nanoseconds(CLOCK_MONOTONIC);
        for (int k = 0; k < PAIRS; k++) {
            measured->lock();
            measured->unlock();
        }
        uint64_t ns = nanoseconds(CLOCK_MONOTONIC) - start;
        least = ns < least ? ns : least;
    }
    return (double)least / PAIRS;
}

/* ---- instructions */

#ifdef __x86_64__

static volatile unsigned steps;

static void count_step(int signal)
{
    (void)signal;
    steps++;
}

static void no_lock(void)
{
    __asm__ volatile("");
}

/* One by one. The least: of some, a profile does more. */
static unsigned instructions(void (*lock)(void), void (*unlock)(void))
{
    enum { TRAP_FLAG = 0x100, SAMPLES = 100 };
    unsigned least = (unsigned)-1;
    for (int i = 0; i < SAMPLES; i++) {
        steps = 0;
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
        lock();
        unlock();
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP_FLAG);
        least = steps < least ? steps : least;
    }
    return least;
}

static double instructions_of_a_pair(void)
{
    signal(SIGTRAP, count_step);
    return instructions(measured->lock, measured->unlock) - instructions(no_lock, no_lock);
}

#else

static double instructions_of_a_pair(void)
{
    exit(4);
}

#endif

/* ---- many threads */

static uint32_t step(uint32_t x)
{
    return x * 1664525 + 1013904223;
}

static void *use_locks(void *seed)
{
    uint32_t x = *(uint32_t *)seed;
    volatile uint32_t sink;
    for (int i = 0; i < TOTAL / threads; i++) {
        pthread_mutex_t *m = &locks[(x >> 16) % (unsigned)lock_count];
        pthread_mutex_lock(m);
        x = step(x);
        pthread_mutex_unlock(m);
        for (int k = 0; k < WORK; k++)
            x = step(x);
        sink = x;
    }
    (void)sink;
    return NULL;
}

static double cpu_time_each(void)
{
    static pthread_t ids[MOST];
    static uint32_t seeds[MOST];
    for (int i = 0; i < threads; i++) {
        seeds[i] = step((uint32_t)i);
        pthread_create(&ids[i], NULL, use_locks, &seeds[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return (double)nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / TOTAL;
}

static double cost_of(const char *name, const char *what)
{
    pthread_t other;
    begin(name);
    bool waited = strcmp(what, "waited") == 0;
    if (waited && strstr(name, "spin") != NULL) /* glibc's never sleeps */
        exit(2);
    if (waited)
        let_one_wait();
    pthread_create(&other, NULL, stay, NULL);
    return strcmp(what, "count") == 0 ? instructions_of_a_pair() : fastest_round();
}

int main(int argc, char **argv)
{
    threads = argc == 3 ? atoi(argv[1]) : 0;
    lock_count = argc == 3 ? atoi(argv[2]) : 0;
    if (threads > MOST || lock_count > MOST)
        return 2;
    printf("%.2f\n", threads > 0 && lock_count > 0
                         ? cpu_time_each()
                         : cost_of(argc > 1 ? argv[1] : "normal", argc > 2 ? argv[2] : ""));
    return 0;
}
