/* awkward.c - locks that are easily counted wrong: awkward HOW
 *
 *   late     a thread wants a mutex for 10 ms, four times, and never gets it; then one waits for a condition variable, is woken once,
 *            and comes back at its deadline twice
 *   reused   where a mutex was, there is a condition variable, and then a spin lock
 *   held     a mutex that nobody waits for is held for 30 ms, after many short holds
 *   quiet    30 mutexes that nobody waits for, the last of them used most
 *   load     a mutex of a library that is loaded later: awkward load LIBRARY
 */
#include "asleep.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pid_t waiter;

static struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void await_waiter(void)
{
    pid_t thread;
    while ((thread = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(thread))
        nap(1);
}

static void join_one(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

/* ---- late */

static void *want_in_vain(void *argument)
{
    for (int i = 0; i < 4; i++) {
        struct timespec soon = in_ms(10);
        if (pthread_mutex_timedlock(&mutex, &soon) == 0) /* IN_VAIN */
            exit(3);
    }
    return argument;
}

static void *signal_once(void *argument)
{
    await_waiter();
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed); /* SIGNAL */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void be_late(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex); /* HOLDER */
    join_one(want_in_vain);
    pthread_mutex_unlock(&mutex);
    pthread_create(&other, NULL, signal_once, NULL);
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&changed, &mutex); /* WOKEN */
    for (int i = 0; i < 2; i++) {
        struct timespec soon = in_ms(10);
        pthread_cond_timedwait(&changed, &mutex, &soon); /* LATE */
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

/* ---- reused */

static union {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_spinlock_t spin;
} place;

static void *sleep_there(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&place.cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void reuse(void)
{
    pthread_t other;
    pthread_mutex_init(&place.mutex, NULL);
    pthread_mutex_lock(&place.mutex);
    pthread_mutex_unlock(&place.mutex);
    pthread_mutex_destroy(&place.mutex);
    pthread_cond_init(&place.cond, NULL);
    pthread_create(&other, NULL, sleep_there, NULL);
    await_waiter();
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&place.cond);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
    pthread_cond_destroy(&place.cond);
    pthread_spin_init(&place.spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 3; i++) {
        pthread_spin_lock(&place.spin);
        pthread_spin_unlock(&place.spin);
    }
}

/* ---- many */

static void use(pthread_mutex_t *m, int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

/* One in 16 is timed after the first 32: of 400 long ones, some are. */
static void hold(void)
{
    use(&mutex, 100);
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&mutex);
        usleep(100);
        pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "late") == 0)
        be_late();
    if (strcmp(how, "reused") == 0)
        reuse();
    if (strcmp(how, "held") == 0)
        hold();
    for (int i = 1; i <= 30 && strcmp(how, "quiet") == 0; i++) {
        static pthread_mutex_t quiet[31];
        use(&quiet[i], i);
    }
    if (strcmp(how, "load") == 0) {
        use(&mutex, 1);
        void *library = dlopen(argv[2], RTLD_NOW);
        void (*function)(void);
        *(void **)&function = library != NULL ? dlsym(library, "plugged_in") : NULL;
        if (function == NULL)
            return 3;
        function();
    }
    return 0;
}
