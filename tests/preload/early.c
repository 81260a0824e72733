/* early.c - locks in a constructor and a destructor, and around fork(), before the library starts and after it ends */
#include "early.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

int early_constructed, early_forks_prepared, early_forks_seen;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t around_fork = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;

static int use_all(void)
{
    int errors = pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), done = 0;
    for (int i = 0; i < EARLY_CALLS; i++) {
        errors += pthread_mutex_lock(&mutex) + pthread_mutex_unlock(&mutex);
        errors += pthread_mutex_trylock(&mutex) + pthread_cond_signal(&cond) + pthread_mutex_unlock(&mutex);
        errors += pthread_mutex_lock(&recursive) + pthread_mutex_lock(&recursive);
        errors += pthread_mutex_unlock(&recursive) + pthread_mutex_unlock(&recursive);
        errors += pthread_spin_lock(&spin) + pthread_spin_unlock(&spin);
        done++;
    }
    return errors == 0 ? done : -1;
}

static void prepare(void)
{
    pthread_mutex_lock(&around_fork);
    early_forks_prepared++;
}

static void parent(void)
{
    pthread_mutex_unlock(&around_fork);
}

/* As libraries do that have a thread of their own. */
static bool starts_threads, told;
static pthread_t started;

static void *wait_to_be_told(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (!told)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void start_thread(void)
{
    if (pthread_create(&started, NULL, wait_to_be_told, NULL) != 0)
        _exit(96);
    usleep(2000); /* until it waits */
}

void early_start_threads(void)
{
    starts_threads = true;
}

void early_end_thread(void)
{
    pthread_mutex_lock(&mutex);
    told = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    pthread_join(started, NULL);
}

/* Registered before the library could register its own. */
static void child(void)
{
    if (starts_threads)
        start_thread();
    early_forks_seen++;
    if (pthread_mutex_unlock(&around_fork) != 0 || pthread_mutex_lock(&around_fork) != 0 ||
        pthread_mutex_unlock(&around_fork) != 0)
        _exit(99);
}

__attribute__((constructor)) static void construct(void)
{
    pthread_atfork(prepare, parent, child);
    if (getenv("PAWL_TEST_EARLY") != NULL)
        early_constructed = use_all();
}

__attribute__((destructor)) static void destruct(void)
{
    if (getenv("PAWL_TEST_EARLY") != NULL && use_all() != EARLY_CALLS)
        _exit(98);
}
