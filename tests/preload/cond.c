/* cond.c - condition variables: signals, deadlines, destruction */
#include "cond.h"

#include <sys/mman.h>

void *wait_to_go(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->waiting++;
    while (s->go == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    CHECK_IS(s->mutex.__data.__owner, own_tid());
    s->go--;
    s->gone++;
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

void await_waiting(scene *s, int count)
{
    OK(pthread_mutex_lock(&s->mutex));
    while (s->waiting < count) {
        OK(pthread_mutex_unlock(&s->mutex));
        pause_ms(1);
        OK(pthread_mutex_lock(&s->mutex));
    }
    OK(pthread_mutex_unlock(&s->mutex));
}

/* ---- signal and broadcast */

static void signals_wake_one_each(void)
{
    static scene s;
    enum { THREADS = 5 };
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        t[i] = spawn(wait_to_go, &s);
    await_waiting(&s, THREADS);
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_mutex_lock(&s.mutex));
        s.go++;
        if (i % 2 == 0)
            OK(pthread_cond_signal(&s.cond));
        OK(pthread_mutex_unlock(&s.mutex));
        if (i % 2 != 0)
            OK(pthread_cond_signal(&s.cond));
    }
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    CHECK_IS(s.gone, THREADS);
    OK(pthread_cond_destroy(&s.cond));
    OK(pthread_mutex_destroy(&s.mutex));
}

static void broadcast_wakes_all_of_every_type(void)
{
    enum { THREADS = 8 };
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int k = 0; k < 8; k++) {
        scene s;
        memset(&s, 0, sizeof s);
        make_mutex(&s.mutex, types[k % 4]);
        OK(pthread_cond_init(&s.cond, NULL));
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++)
            t[i] = spawn(wait_to_go, &s);
        await_waiting(&s, THREADS);
        OK(pthread_mutex_lock(&s.mutex));
        s.go = THREADS;
        if (k < 4)
            OK(pthread_cond_broadcast(&s.cond));
        OK(pthread_mutex_unlock(&s.mutex));
        if (k >= 4)
            OK(pthread_cond_broadcast(&s.cond));
        for (int i = 0; i < THREADS; i++)
            join(t[i]);
        CHECK_IS(s.gone, THREADS);
        OK(pthread_cond_destroy(&s.cond));
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

static void a_signal_that_nobody_awaits_is_gone(void)
{
    scene s;
    memset(&s, 0, sizeof s);
    OK(pthread_cond_signal(&s.cond));
    OK(pthread_cond_broadcast(&s.cond));
    OK(pthread_mutex_lock(&s.mutex));
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    int result;
    while ((result = pthread_cond_timedwait(&s.cond, &s.mutex, &soon)) == 0)
        ;
    CHECK_IS(result, ETIMEDOUT);
    OK(pthread_mutex_unlock(&s.mutex));
}

/* ---- time */

static void time_out(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock)
{
    struct timespec soon = in_ms(clock, 4), past = {1, 0};
    OK(pthread_mutex_lock(m));
    int result;
    while ((result = pthread_cond_timedwait(c, m, &soon)) == 0)
        ;
    CHECK_IS(result, ETIMEDOUT);
    CHECK_IS(pthread_cond_timedwait(c, m, &past), ETIMEDOUT);
    CHECK_IS(m->__data.__owner, own_tid());
    struct timespec now;
    clock_gettime(clock, &now);
    CHECK(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
    OK(pthread_mutex_unlock(m));
}

static void a_wait_times_out_by_the_clock_it_was_given(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    time_out(&c, &m, CLOCK_REALTIME);
    OK(pthread_cond_destroy(&c));
    for (int i = 0; i < 2; i++) {
        pthread_condattr_t a;
        pthread_condattr_init(&a);
        OK(pthread_condattr_setclock(&a, clocks[i]));
        OK(pthread_cond_init(&c, &a));
        CHECK_IS(c.__data.__wrefs, clocks[i] == CLOCK_MONOTONIC ? 2 : 0); /* where glibc has it */
        time_out(&c, &m, clocks[i]);
        for (int k = 0; k < 2; k++) { /* pthread_cond_clockwait() does not ask the attribute */
            struct timespec soon = in_ms(clocks[k], 4);
            OK(pthread_mutex_lock(&m));
            int result;
            while ((result = pthread_cond_clockwait(&c, &m, clocks[k], &soon)) == 0)
                ;
            CHECK_IS(result, ETIMEDOUT);
            OK(pthread_mutex_unlock(&m));
        }
        OK(pthread_cond_destroy(&c));
    }
}

static void a_wait_says_what_is_wrong(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                    r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    struct timespec wrong = {0, 1000000000}, negative = {0, -1}, soon = in_ms(CLOCK_REALTIME, 5);
    OK(pthread_mutex_lock(&m));
    CHECK_IS(pthread_cond_timedwait(&c, &m, &wrong), EINVAL);
    CHECK_IS(pthread_cond_timedwait(&c, &m, &negative), EINVAL);
    CHECK_IS(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &wrong), EINVAL);
    CHECK_IS(pthread_cond_clockwait(&c, &m, CLOCK_THREAD_CPUTIME_ID, &soon), EINVAL);
    CHECK_IS(m.__data.__owner, own_tid());
    OK(pthread_mutex_unlock(&m));
    CHECK_IS(pthread_cond_wait(&c, &e), EPERM);
    CHECK_IS(pthread_cond_wait(&c, &r), EPERM);
    CHECK_IS(pthread_cond_timedwait(&c, &e, &soon), EPERM);
    OK(pthread_cond_signal(&c));
    OK(try_elsewhere(&e));
    OK(try_elsewhere(&r));
}

/* ---- its end */

/* In memory that is freed as soon as all have been told to go. */
static void *wait_on_page(void *argument)
{
    void **three = argument;
    scene *s = three[0];
    pthread_cond_t *c = three[1];
    OK(pthread_mutex_lock(&s->mutex));
    s->waiting++;
    while (s->go == 0)
        OK(pthread_cond_wait(c, &s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* Process-shared or not, and in memory that was used for something else. */
static void make_cond(pthread_cond_t *c, int shared)
{
    pthread_condattr_t a;
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_setpshared(&a, shared));
    memset(c, 0x5a, sizeof *c);
    OK(pthread_cond_init(c, &a));
}

static void it_is_destroyed_right_after_broadcast(void)
{
    enum { THREADS = 4 };
    for (int k = 0; k < 60; k++) {
        static scene s;
        memset(&s, 0, sizeof s);
        pthread_cond_t *c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(c != MAP_FAILED);
        int shared = k % 3 == 0 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
        make_cond(c, shared);
        pthread_mutexattr_t a;
        OK(pthread_mutexattr_init(&a));
        OK(pthread_mutexattr_setpshared(&a, shared));
        OK(pthread_mutex_init(&s.mutex, &a));
        void *both[] = {&s, c};
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++)
            t[i] = spawn(wait_on_page, both);
        await_waiting(&s, THREADS);
        OK(pthread_mutex_lock(&s.mutex));
        s.go = 1;
        OK(pthread_cond_broadcast(c));
        bool early =
            k % 2 == 0 && shared == PTHREAD_PROCESS_PRIVATE; /* a shared one's waiters need the mutex first */
        if (early) {
            OK(pthread_cond_destroy(c));
            OK(mprotect(c, 4096, PROT_NONE));
        }
        OK(pthread_mutex_unlock(&s.mutex));
        if (!early) {
            OK(pthread_cond_destroy(c));
            OK(mprotect(c, 4096, PROT_NONE));
        }
        for (int i = 0; i < THREADS; i++)
            join(t[i]);
        munmap(c, 4096);
    }
}

static void one_that_was_never_initialised_works(void)
{
    scene *s = calloc(1, sizeof *s);
    OK(pthread_cond_signal(&s->cond));
    pthread_t t = spawn(wait_to_go, s);
    await_waiting(s, 1);
    OK(pthread_mutex_lock(&s->mutex));
    s->go = 1;
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    join(t);
    free(s);
}

const test_case cond_cases[] = {CASE(signals_wake_one_each),
                                CASE(broadcast_wakes_all_of_every_type),
                                CASE(a_signal_that_nobody_awaits_is_gone),
                                CASE(a_wait_times_out_by_the_clock_it_was_given),
                                CASE(a_wait_says_what_is_wrong),
                                CASE(it_is_destroyed_right_after_broadcast),
                                CASE(one_that_was_never_initialised_works),
                                {0}};
