/* rounds.c - the same objects used round after round: waited for, signalled, destroyed, recreated; and by processes */
#include "case.h"

#include <sys/mman.h>

enum { THREADS = 5 };

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond, all;
    pthread_barrier_t barrier;
    int waiting, round, count;
} scene;

static void *run_with(void *(*run)(void *), scene *s)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        t[i] = spawn(run, s);
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    return NULL;
}

/* ---- a condition variable for each end of a round */

enum { MEETINGS = 60 };

static void *meet_again(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < MEETINGS; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        if (++s->waiting == THREADS) {
            s->waiting = 0;
            s->round++;
            OK(pthread_cond_broadcast(&s->all));
            OK(i % 2 ? pthread_cond_signal(&s->cond) : pthread_cond_broadcast(&s->cond));
        }
        while (s->round == i)
            OK(pthread_cond_wait(&s->all, &s->mutex));
        s->count++;
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

static void a_round_ends_for_all(void)
{
    static scene s;
    run_with(meet_again, &s);
    CHECK_IS(s.round, MEETINGS);
    CHECK_IS(s.count, THREADS * MEETINGS);
    OK(pthread_cond_destroy(&s.all));
    OK(pthread_cond_destroy(&s.cond));
}

/* ---- signals and broadcasts of those that wait themselves */

/* A thread that finds nothing to do waits; one that takes something signals or broadcasts for the next. */
static void *pass_it_on(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    while (s->count < 1500) {
        s->count++;
        OK(s->count % 3 == 0 ? pthread_cond_broadcast(&s->cond) : pthread_cond_signal(&s->cond));
        if (++s->waiting < THREADS)
            OK(pthread_cond_wait(&s->cond, &s->mutex));
        s->waiting--;
        if (s->count % 7 == 0) {
            OK(pthread_mutex_unlock(&s->mutex));
            sched_yield();
            OK(pthread_mutex_lock(&s->mutex));
        }
    }
    OK(pthread_cond_broadcast(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void those_that_wait_wake_each_other(void)
{
    static scene s;
    run_with(pass_it_on, &s);
    CHECK(s.count >= 1500);
    CHECK_IS(s.waiting, 0);
}

/* ---- destroyed and made again while the others are between two rounds */

static void *lock_the_new_one(void *argument)
{
    scene *s = argument;
    struct timespec late = in_ms(CLOCK_REALTIME, 100000);
    for (int i = 0; i < 80; i++) {
        if (pthread_barrier_wait(&s->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            OK(pthread_mutex_destroy(&s->mutex));
            make_mutex(&s->mutex, i % 2 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
        }
        pthread_barrier_wait(&s->barrier);
        OK(i % 3 == 0 ? pthread_mutex_timedlock(&s->mutex, &late) : pthread_mutex_lock(&s->mutex));
        s->count++;
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

static void a_mutex_is_made_anew_each_round(void)
{
    static scene s;
    OK(pthread_barrier_init(&s.barrier, NULL, THREADS));
    run_with(lock_the_new_one, &s);
    CHECK_IS(s.count, THREADS * 80);
}

/* ---- processes */

static void share(scene *s)
{
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    OK(pthread_mutexattr_init(&m));
    OK(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&s->mutex, &m));
    OK(pthread_condattr_init(&c));
    OK(pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&s->cond, &c));
    OK(pthread_cond_init(&s->all, &c));
}

static void broadcast_reaches_several_processes(void)
{
    scene *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(s != MAP_FAILED);
    share(s);
    int child[THREADS];
    for (int i = 0; i < THREADS; i++)
        if ((child[i] = fork()) == 0) {
            meet_again(s);
            _exit(0);
        }
    for (int i = 0; i < THREADS; i++)
        OK(child_status(child[i]));
    CHECK_IS(s->count, THREADS * MEETINGS);
    struct timespec past = {1, 0};
    OK(pthread_mutex_lock(&s->mutex));
    CHECK_IS(pthread_cond_timedwait(&s->all, &s->mutex, &past), ETIMEDOUT);
    OK(pthread_mutex_unlock(&s->mutex));
}

/* ---- a robust mutex and our condition variable */

static void *take_it_to_the_grave(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->round = 1;
    OK(pthread_cond_signal(&s->cond));
    return NULL;
}

static void a_wait_tells_of_a_dead_owner(void)
{
    for (int i = 0; i < 4; i++) {
        scene s;
        memset(&s, 0, sizeof s);
        pthread_mutexattr_t a;
        OK(pthread_mutexattr_init(&a));
        OK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
        OK(pthread_mutex_init(&s.mutex, &a));
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t t = spawn(take_it_to_the_grave, &s);
        struct timespec late = in_ms(CLOCK_REALTIME, 100000);
        int result = 0;
        while (s.round == 0 && result == 0)
            result = i % 2 ? pthread_cond_timedwait(&s.cond, &s.mutex, &late)
                           : pthread_cond_wait(&s.cond, &s.mutex);
        CHECK_IS(result, EOWNERDEAD);
        join(t);
        if (i < 2) {
            OK(pthread_mutex_consistent(&s.mutex));
            OK(pthread_mutex_unlock(&s.mutex));
            OK(try_elsewhere(&s.mutex));
        } else {
            OK(pthread_mutex_unlock(&s.mutex));
            CHECK_IS(try_elsewhere(&s.mutex), ENOTRECOVERABLE);
        }
        OK(pthread_cond_destroy(&s.cond));
    }
}

const test_case rounds_cases[] = {CASE(a_round_ends_for_all),
                                  CASE(those_that_wait_wake_each_other),
                                  CASE(a_mutex_is_made_anew_each_round),
                                  CASE(broadcast_reaches_several_processes),
                                  CASE(a_wait_tells_of_a_dead_owner),
                                  {0}};
