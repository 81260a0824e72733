/* pair.c - what a lock and unlock costs: pair [waited | THREADS LOCKS]
 *
 * Prints nanoseconds. Without numbers: of the fastest round of an uncontended lock, so that nothing else that runs counts; with
 * `waited`, of one that a thread had to wait for before.
 * With numbers, CPU time for each acquisition by so many threads of locks chosen at random, with some work in between.
 */
#include "asleep.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2000, PAIRS = 1000, TOTAL = 4000000, WORK = 80, MOST = 1024 };

static pthread_mutex_t locks[MOST];
static int threads, lock_count;

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
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_unlock(&locks[0]);
    return argument;
}

static void let_one_wait(void)
{
    pthread_t other;
    pthread_mutex_lock(&locks[0]);
    pthread_create(&other, NULL, wait_once, NULL);
    while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0 || !is_asleep(waiter))
        nap(1);
    pthread_mutex_unlock(&locks[0]);
    pthread_join(other, NULL);
}

static double fastest_round(void)
{
    uint64_t least = UINT64_MAX;
    pthread_t other;
    pthread_create(&other, NULL, stay, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = nanoseconds(CLOCK_MONOTONIC);
        for (int k = 0; k < PAIRS; k++) {
            pthread_mutex_lock(&locks[0]);
            pthread_mutex_unlock(&locks[0]);
        }
        uint64_t ns = nanoseconds(CLOCK_MONOTONIC) - start;
        least = ns < least ? ns : least;
    }
    return (double)least / PAIRS;
}

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

int main(int argc, char **argv)
{
    threads = argc == 3 ? atoi(argv[1]) : 1;
    lock_count = argc == 3 ? atoi(argv[2]) : 1;
    if (threads < 1 || threads > MOST || lock_count < 1 || lock_count > MOST)
        return 2;
    if (argc == 2 && strcmp(argv[1], "waited") == 0)
        let_one_wait();
    printf("%.2f\n", argc == 3 ? cpu_time_each() : fastest_round());
    return 0;
}
