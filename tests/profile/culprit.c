/* culprit.c - a thread holds a lock while two others want it: culprit END [ROUNDS]
 *
 * All lock through a wrapper, so that the calls of pthread_mutex_lock() say nothing. The tests look for the lines with a
 * name in capitals. It also compiles as C++.
 */
#include "asleep.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { HOLD_MS = 10, CROWD = 300 };

pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t ready_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_changed = PTHREAD_COND_INITIALIZER;
static bool ready;
static int sleepers;
static pthread_barrier_t together;
static pid_t waiting[2]; /* threads that are about to lock */
static const char *how = "exit";
static bool spins;
static int rounds = 8;

/* Not inlined, and not a tail call. */
__attribute__((noinline)) void lock_it(pthread_mutex_t *m)
{
    const struct timespec never = {(time_t)1 << 40, 0};
    if (spins)
        pthread_spin_lock(&spin);
    else if (strcmp(how, "timed") == 0)
        pthread_mutex_timedlock(m, &never);
    else if (strcmp(how, "clock") == 0)
        pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &never);
    else if (strcmp(how, "c11") == 0)
        mtx_timedlock((mtx_t *)m, &never);
    else
        pthread_mutex_lock(m);
    __asm__ volatile("" ::: "memory");
}

static void unlock_it(pthread_mutex_t *m)
{
    if (spins)
        pthread_spin_unlock(&spin);
    else
        pthread_mutex_unlock(m);
}

static bool is_waiting(int who)
{
    pid_t thread = __atomic_load_n(&waiting[who], __ATOMIC_ACQUIRE);
    return thread != 0 && is_asleep(thread);
}

static void about_to_lock(int who)
{
    __atomic_store_n(&waiting[who], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

/* Lets go only after both wait, so that they wait for it however slow the machine is. */
__attribute__((noinline)) void holder_a(void)
{
    lock_it(&wanted); /* HOLDER */
    pthread_barrier_wait(&together);
    while (!is_waiting(0) || !is_waiting(1))
        nap(1);
    nap(HOLD_MS);
    waiting[0] = waiting[1] = 0;
    unlock_it(&wanted);                /* RELEASE */
    __asm__ volatile("" ::: "memory"); /* not a tail call, which would leave no frame */
}

__attribute__((noinline)) void waiter_b(void)
{
    pthread_barrier_wait(&together);
    about_to_lock(0);
    lock_it(&wanted); /* WAITER_B */
    unlock_it(&wanted);
}

__attribute__((noinline)) void waiter_c(void)
{
    pthread_barrier_wait(&together);
    about_to_lock(1);
    lock_it(&wanted); /* WAITER_C */
    unlock_it(&wanted);
}

typedef struct role {
    void (*function)(void);
} role;

/* Two ways to the same lines. */
__attribute__((noinline)) static void by_day(const role *r)
{
    r->function();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void by_night(const role *r)
{
    r->function();
    __asm__ volatile("nop" ::: "memory");
}

static void *repeat(void *argument)
{
    for (int i = 0; i < rounds; i++) {
        (i % 2 == 0 ? by_day : by_night)((const role *)argument);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void contend(void)
{
    static role roles[] = {{holder_a}, {waiter_b}, {waiter_c}};
    pthread_t threads[3];
    pthread_barrier_init(&together, NULL, 3);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, repeat, &roles[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- a condition variable */

__attribute__((noinline)) void sleeper(void)
{
    pthread_mutex_lock(&ready_mutex);
    sleepers++;
    while (!ready)
        pthread_cond_wait(&ready_changed, &ready_mutex); /* SLEEPER */
    pthread_mutex_unlock(&ready_mutex);
}

static void *sleep_once(void *argument)
{
    about_to_lock(0);
    sleeper();
    return argument;
}

__attribute__((noinline)) void waker(void)
{
    pthread_mutex_lock(&ready_mutex);
    ready = true;
    pthread_cond_signal(&ready_changed); /* WAKER */
    pthread_mutex_unlock(&ready_mutex);
}

static void wake(void)
{
    pthread_t other;
    pthread_create(&other, NULL, sleep_once, NULL);
    while (!is_waiting(0))
        nap(1);
    nap(HOLD_MS);
    waker();
    pthread_join(other, NULL);
}

/* Idle threads wait longer than anybody who wants the lock. */
static void contend_in_a_crowd(void)
{
    static pthread_t crowd[CROWD];
    for (int i = 0; i < CROWD; i++)
        pthread_create(&crowd[i], NULL, sleep_once, NULL);
    for (bool all = false; !all; nap(1)) {
        pthread_mutex_lock(&ready_mutex);
        all = sleepers == CROWD;
        pthread_mutex_unlock(&ready_mutex);
    }
    contend();
    pthread_mutex_lock(&ready_mutex);
    ready = true;
    pthread_cond_broadcast(&ready_changed);
    pthread_mutex_unlock(&ready_mutex);
    for (int i = 0; i < CROWD; i++)
        pthread_join(crowd[i], NULL);
}

/* ---- many locks, and its end */

static void use_many(int n)
{
    pthread_mutex_t *m = (pthread_mutex_t *)calloc((size_t)n, sizeof *m);
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&m[i]);
        pthread_mutex_unlock(&m[i]);
    }
    free(m);
}

static void end(char **argv)
{
    static char again[] = "exit";
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "int") == 0)
        raise(SIGINT);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "exec") == 0) {
        argv[1] = again;
        execv("/proc/self/exe", argv);
    }
    if (strcmp(how, "forever") == 0)
        for (;;)
            contend();
}

static void choose_type(void)
{
    pthread_mutexattr_t type;
    pthread_mutexattr_init(&type);
    if (strcmp(how, "recursive") == 0)
        pthread_mutexattr_settype(&type, PTHREAD_MUTEX_RECURSIVE);
    if (strcmp(how, "checked") == 0)
        pthread_mutexattr_settype(&type, PTHREAD_MUTEX_ERRORCHECK);
    if (strcmp(how, "adaptive") == 0)
        pthread_mutexattr_settype(&type, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&wanted, &type);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : how;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    if (strcmp(how, "c11") != 0)
        choose_type();
    spins = strcmp(how, "spin") == 0;
    if (strcmp(how, "many") == 0) {
        use_many(rounds);
    } else if (strcmp(how, "cond") == 0) {
        wake();
    } else if (strcmp(how, "crowd") == 0) {
        contend_in_a_crowd();
    } else if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            contend();
        else
            waitpid(child, NULL, 0);
    } else {
        contend();
    }
    end(argv);
    return 0;
}
