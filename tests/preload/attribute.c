/* attribute.c - attributes: what may be set, and that an object keeps those it was made with */
#include "case.h"

static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                            PTHREAD_MUTEX_ADAPTIVE_NP};
static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};

static void the_attributes_of_a_mutex_are_what_was_set(void)
{
    pthread_mutexattr_t a;
    int is;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_gettype(&a, &is));
    CHECK_IS(is, PTHREAD_MUTEX_DEFAULT);
    OK(pthread_mutexattr_getpshared(&a, &is));
    CHECK_IS(is, PTHREAD_PROCESS_PRIVATE);
    OK(pthread_mutexattr_getprotocol(&a, &is));
    CHECK_IS(is, PTHREAD_PRIO_NONE);
    OK(pthread_mutexattr_getrobust(&a, &is));
    CHECK_IS(is, PTHREAD_MUTEX_STALLED);
    for (int i = 0; i < 4; i++) {
        OK(pthread_mutexattr_settype(&a, types[i]));
        OK(pthread_mutexattr_gettype(&a, &is));
        CHECK_IS(is, types[i]);
    }
    CHECK_IS(pthread_mutexattr_settype(&a, 100), EINVAL);
    CHECK_IS(pthread_mutexattr_settype(&a, -1), EINVAL);
    CHECK_IS(pthread_mutexattr_setpshared(&a, 100), EINVAL);
    CHECK_IS(pthread_mutexattr_setprotocol(&a, 100), EINVAL);
    CHECK_IS(pthread_mutexattr_setrobust(&a, 100), EINVAL);
    CHECK_IS(pthread_mutexattr_setprioceiling(&a, 100000), EINVAL);
    OK(pthread_mutexattr_gettype(&a, &is));
    CHECK_IS(is, PTHREAD_MUTEX_ADAPTIVE_NP);
    OK(pthread_mutexattr_destroy(&a));
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_destroy(&a));
}

static void the_attributes_of_a_condvar_are_what_was_set(void)
{
    pthread_condattr_t a;
    clockid_t clock;
    int is;
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_getclock(&a, &clock));
    CHECK_IS(clock, CLOCK_REALTIME);
    OK(pthread_condattr_getpshared(&a, &is));
    CHECK_IS(is, PTHREAD_PROCESS_PRIVATE);
    OK(pthread_condattr_setclock(&a, CLOCK_MONOTONIC));
    OK(pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    CHECK_IS(pthread_condattr_setclock(&a, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    CHECK_IS(pthread_condattr_setclock(&a, 123456), EINVAL);
    CHECK_IS(pthread_condattr_setpshared(&a, 100), EINVAL);
    OK(pthread_condattr_getclock(&a, &clock));
    CHECK_IS(clock, CLOCK_MONOTONIC);
    OK(pthread_condattr_getpshared(&a, &is));
    CHECK_IS(is, PTHREAD_PROCESS_SHARED);
    OK(pthread_condattr_destroy(&a));
}

/* What its owner is told when it locks it again, by trylock and with a deadline. glibc's error-checking robust and
 * priority-inheriting mutexes return EDEADLK for both. */
static void relock(pthread_mutex_t *m, int type)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 2);
    bool recursive = type == PTHREAD_MUTEX_RECURSIVE;
    int error = pthread_mutex_trylock(m);
    CHECK(error == (recursive ? 0 : EBUSY) || (type == PTHREAD_MUTEX_ERRORCHECK && error == EDEADLK));
    CHECK_IS(pthread_mutex_timedlock(m, &soon), recursive                          ? 0
                                                : type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK
                                                                                   : ETIMEDOUT);
    for (int i = 0; recursive && i < 2; i++)
        OK(pthread_mutex_unlock(m));
}

static void use(pthread_mutex_t *m, int type)
{
    OK(pthread_mutex_lock(m));
    CHECK_IS(try_elsewhere(m), EBUSY);
    relock(m, type);
    OK(pthread_mutex_unlock(m));
    OK(try_elsewhere(m));
}

static void a_mutex_keeps_the_type_it_was_made_with(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m[4];
    OK(pthread_mutexattr_init(&a));
    for (int i = 0; i < 4; i++) {
        OK(pthread_mutexattr_settype(&a, types[i]));
        OK(pthread_mutex_init(&m[i], &a));
    }
    OK(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutexattr_destroy(&a));
    for (int i = 0; i < 4; i++) {
        use(&m[i], types[i]);
        OK(pthread_mutex_destroy(&m[i]));
    }
}

static int make(pthread_mutex_t *m, int type, bool shared, bool robust, int protocol)
{
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_settype(&a, type));
    OK(pthread_mutexattr_setpshared(&a, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE));
    OK(pthread_mutexattr_setrobust(&a, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED));
    OK(pthread_mutexattr_setprotocol(&a, protocol));
    int error = pthread_mutex_init(m, &a);
    OK(pthread_mutexattr_destroy(&a));
    return error;
}

typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool go;
} meeting;

static void *signal_it(void *argument)
{
    meeting *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->go = true;
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* With condition variables of every kind, too. */
static void meet(meeting *s, int kind)
{
    pthread_condattr_t a;
    clockid_t clock = clocks[kind % 2];
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_setclock(&a, clock));
    OK(pthread_condattr_setpshared(&a, kind < 2 ? PTHREAD_PROCESS_PRIVATE : PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&s->cond, &a));
    OK(pthread_condattr_destroy(&a));
    s->go = false;
    OK(pthread_mutex_lock(&s->mutex));
    struct timespec past = {1, 0}, late = in_ms(clock, 100000);
    CHECK_IS(pthread_cond_timedwait(&s->cond, &s->mutex, &past), ETIMEDOUT);
    CHECK_IS(try_elsewhere(&s->mutex), EBUSY);
    pthread_t t = spawn(signal_it, s);
    while (!s->go)
        OK(kind % 2 ? pthread_cond_timedwait(&s->cond, &s->mutex, &late)
                    : pthread_cond_wait(&s->cond, &s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    join(t);
    OK(pthread_cond_destroy(&s->cond));
}

static void every_combination_of_attributes_works(void)
{
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int i = 0; i < 4 * 2 * 2 * 2; i++) {
        meeting s;
        int error = make(&s.mutex, types[i % 4], i / 4 % 2, i / 8 % 2, protocols[i / 16]);
        if (error == ENOTSUP)
            continue;
        OK(error);
        use(&s.mutex, types[i % 4]);
        for (int kind = 0; kind < 4; kind++)
            meet(&s, kind);
        use(&s.mutex, types[i % 4]);
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

const test_case attribute_cases[] = {CASE(the_attributes_of_a_mutex_are_what_was_set),
                                     CASE(the_attributes_of_a_condvar_are_what_was_set),
                                     CASE(a_mutex_keeps_the_type_it_was_made_with),
                                     CASE(every_combination_of_attributes_works),
                                     {0}};
