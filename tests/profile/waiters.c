/* waiters.c - threads that wait for ever, or again and again: waiters KIND
 *
 *   cond   one waits for a condition variable, another signals it
 *   pi     two contend for a mutex with priority inheritance
 *   hung   two want a mutex that is never released
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void nap(void)
{
    struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
}

__attribute__((noinline)) void sleeper(void)
{
    pthread_mutex_lock(&mutex);
    int seen = turn;
    while (turn == seen)
        pthread_cond_wait(&changed, &mutex); /* SLEEPER */
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) void waker(void)
{
    nap();
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed); /* WAKER */
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void owner(void)
{
    pthread_mutex_lock(&mutex); /* OWNER */
    nap();
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("" ::: "memory");
}

static void *repeat(void *function)
{
    for (;;)
        (*(void (**)(void))function)();
    return NULL;
}

int main(int argc, char **argv)
{
    static void (*first)(void) = owner, (*second)(void) = owner;
    const char *kind = argc > 1 ? argv[1] : "";
    pthread_mutexattr_t inherit;
    pthread_t other;
    if (strcmp(kind, "cond") == 0)
        first = sleeper, second = waker;
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    if (strcmp(kind, "pi") == 0)
        pthread_mutex_init(&mutex, &inherit);
    if (strcmp(kind, "hung") == 0)
        pthread_mutex_lock(&mutex);
    pthread_create(&other, NULL, repeat, &first);
    repeat(&second);
}
