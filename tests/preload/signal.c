/* signal.c - a handler that locks: not allowed by POSIX, and it works with glibc as long as the interrupted thread does
 * not hold that mutex */
#include "case.h"

#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, others = PTHREAD_MUTEX_INITIALIZER;
static int count, handled;
static _Atomic(bool) stop;

static void lock_another(int unused)
{
    (void)unused;
    OK(pthread_mutex_lock(&others));
    handled++;
    OK(pthread_mutex_unlock(&others));
}

static void try_the_same(int unused)
{
    (void)unused;
    int result = pthread_mutex_trylock(&mutex);
    CHECK(result == 0 || result == EBUSY);
    if (result == 0) {
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
}

static void *hammer(void *unused)
{
    while (!stop) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

static void interrupt(void (*handler)(int), int times)
{
    enum { THREADS = 3 };
    struct sigaction action = {.sa_handler = handler};
    OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        t[i] = spawn(hammer, NULL);
    for (int i = 0; i < times; i++) {
        OK(pthread_kill(t[i % THREADS], SIGUSR1));
        struct timespec nap = {0, 50000};
        nanosleep(&nap, NULL);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    OK(try_elsewhere(&mutex));
    OK(try_elsewhere(&others));
}

static void a_handler_may_lock_another_mutex(void)
{
    interrupt(lock_another, 1000);
}

static void a_handler_may_try_the_same_mutex(void)
{
    interrupt(try_the_same, 1000);
}

/* ---- and condition variables, of which glibc's do not survive it */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void signal_the_same(int unused)
{
    try_the_same(unused);
    OK(pthread_cond_signal(&cond));
    OK(pthread_cond_broadcast(&cond));
}

static void *take_turns(void *argument)
{
    int me = (int)(intptr_t)argument;
    OK(pthread_mutex_lock(&mutex));
    while (!stop) {
        while (turn != me && !stop)
            OK(pthread_cond_wait(&cond, &mutex));
        turn = !me;
        OK(pthread_cond_broadcast(&cond));
    }
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void a_handler_may_signal_the_same_condvar(void)
{
    struct sigaction action = {.sa_handler = signal_the_same};
    OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t t[2] = {spawn(take_turns, (void *)0), spawn(take_turns, (void *)1)};
    for (int i = 0; i < 1000; i++) {
        OK(pthread_kill(t[i % 2], SIGUSR1));
        struct timespec nap = {0, 50000};
        nanosleep(&nap, NULL);
    }
    OK(pthread_mutex_lock(&mutex));
    stop = true;
    OK(pthread_cond_broadcast(&cond));
    OK(pthread_mutex_unlock(&mutex));
    join(t[0]);
    join(t[1]);
    OK(try_elsewhere(&mutex));
}

const test_case signal_cases[] = {CASE(a_handler_may_lock_another_mutex),
                                  CASE(a_handler_may_try_the_same_mutex),
                                  BEYOND(a_handler_may_signal_the_same_condvar),
                                  {0}};
