/* unwind.c - what a thread still does when it is cancelled or exits: its handlers, its destructors, its mutexes */
#include "case.h"

#include <threads.h>

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    _Atomic(int) tid, cleaned;
    int how;
} scene;

static bool was_cancelled(pthread_t t)
{
    void *result;
    OK(pthread_join(t, &result));
    return result == PTHREAD_CANCELED;
}

static void cancel_once_asleep(scene *s, pthread_t t)
{
    while (s->tid == 0)
        pause_ms(1);
    OK(pthread_mutex_lock(&s->mutex)); /* it waits, or will not be found asleep */
    OK(pthread_mutex_unlock(&s->mutex));
    await_asleep(s->tid);
    OK(pthread_cancel(t));
    CHECK(was_cancelled(t));
}

/* ---- cleanup handlers */

static scene line;

static void clean_up_first(void *argument)
{
    CHECK_IS((intptr_t)argument, 42);
    CHECK_IS(line.cleaned++, 0);
    CHECK_IS(line.mutex.__data.__owner, own_tid());
}

static void unlock_second(void *mutex)
{
    CHECK_IS(line.cleaned++, 1);
    OK(pthread_mutex_unlock(mutex));
}

static void lock_third(void *mutex)
{
    CHECK_IS(line.cleaned++, 2);
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_unlock(mutex));
}

static void *wait_or_exit_within_handlers(void *argument)
{
    scene *s = argument;
    pthread_cleanup_push(lock_third, &s->mutex);
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    pthread_cleanup_push(unlock_second, &s->mutex);
    pthread_cleanup_push(clean_up_first, (void *)(intptr_t)42);
    if (s->how == 0)
        pthread_exit(PTHREAD_CANCELED);
    for (;;)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
}

static void handlers_run_last_first_with_the_mutex_held(void)
{
    for (int i = 0; i < 2; i++) {
        memset(&line, 0, sizeof line);
        line.how = i;
        pthread_t t = spawn(wait_or_exit_within_handlers, &line);
        if (i == 0)
            CHECK(was_cancelled(t));
        else
            cancel_once_asleep(&line, t);
        CHECK_IS(line.cleaned, 3);
        OK(try_elsewhere(&line.mutex));
    }
}

/* ---- every wait for a condition variable */

static void note_and_unlock(void *argument)
{
    scene *s = argument;
    s->cleaned++;
    OK(pthread_mutex_unlock(&s->mutex));
}

static int wait_as(scene *s)
{
    struct timespec real = in_ms(CLOCK_REALTIME, 100000), monotonic = in_ms(CLOCK_MONOTONIC, 100000);
    switch (s->how) {
    case 0:
        return pthread_cond_clockwait(&s->cond, &s->mutex, CLOCK_REALTIME, &real);
    case 1:
        return pthread_cond_clockwait(&s->cond, &s->mutex, CLOCK_MONOTONIC, &monotonic);
    case 2:
        return cnd_wait((cnd_t *)&s->cond, (mtx_t *)&s->mutex);
    default:
        return cnd_timedwait((cnd_t *)&s->cond, (mtx_t *)&s->mutex, &real);
    }
}

static void *wait_for_ever(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    pthread_cleanup_push(note_and_unlock, s);
    for (;;)
        OK(wait_as(s));
    pthread_cleanup_pop(0);
}

/* glibc's mtx_t and cnd_t are pthread's by another name. */
static void waits_by_a_clock_and_of_c11_are_cancelled(void)
{
    for (int i = 0; i < 4; i++) {
        scene s;
        memset(&s, 0, sizeof s);
        s.how = i;
        cancel_once_asleep(&s, spawn(wait_for_ever, &s));
        CHECK_IS(s.cleaned, 1);
        OK(try_elsewhere(&s.mutex));
        OK(pthread_cond_destroy(&s.cond));
    }
}

/* ---- destructors */

static pthread_key_t key;

static void lock_and_count(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    OK(pthread_cond_broadcast(&s->cond));
    s->cleaned++;
    OK(pthread_mutex_unlock(&s->mutex));
}

static void *wait_with_a_key(void *argument)
{
    OK(pthread_setspecific(key, argument));
    return wait_for_ever(argument);
}

static void a_cancelled_threads_destructors_may_lock(void)
{
    scene s;
    memset(&s, 0, sizeof s);
    OK(pthread_key_create(&key, lock_and_count));
    cancel_once_asleep(&s, spawn(wait_with_a_key, &s));
    CHECK_IS(s.cleaned, 2);
    OK(try_elsewhere(&s.mutex));
}

/* ---- pthread_once() */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static scene initialised;

static void initialise(void)
{
    scene *s = &initialised;
    if (s->how++ == 0)
        wait_for_ever(s);
    CHECK_IS(s->cleaned, 1);
}

static void *do_it_once(void *unused)
{
    OK(pthread_once(&once, initialise));
    return unused;
}

static void a_cancelled_initialisation_is_done_again(void)
{
    pthread_t first = spawn(do_it_once, NULL);
    while (initialised.tid == 0)
        pause_ms(1);
    pthread_t second = spawn(do_it_once, NULL);
    cancel_once_asleep(&initialised, first);
    CHECK(!was_cancelled(second));
    do_it_once(NULL);
    CHECK_IS(initialised.how, 2);
    OK(try_elsewhere(&initialised.mutex));
}

/* ---- what is no cancellation point */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;

static void *call_with_a_cancellation_pending(void *argument)
{
    scene *s = argument;
    struct timespec soon = in_ms(CLOCK_REALTIME, 5), late = in_ms(CLOCK_REALTIME, 100000);
    OK(pthread_cancel(pthread_self()));
    OK(pthread_mutex_lock(&s->mutex));
    CHECK_IS(pthread_mutex_trylock(&s->mutex), EBUSY);
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_cond_broadcast(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    CHECK_IS(pthread_mutex_timedlock(&held, &soon), ETIMEDOUT);
    s->tid = own_tid();
    OK(pthread_mutex_timedlock(&held, &late));
    OK(pthread_mutex_unlock(&held));
    s->how = 1;
    OK(pthread_spin_lock(&spin));
    OK(pthread_spin_unlock(&spin));
    s->cleaned = 1;
    pthread_testcancel();
    return NULL;
}

static void nothing_else_is_a_cancellation_point(void)
{
    scene s;
    memset(&s, 0, sizeof s);
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&spin));
    OK(pthread_mutex_lock(&held));
    pthread_t t = spawn(call_with_a_cancellation_pending, &s);
    while (s.tid == 0)
        pause_ms(1);
    await_asleep(s.tid);
    OK(pthread_mutex_unlock(&held));
    pause_ms(5); /* long enough to sleep for the spin lock */
    OK(pthread_spin_unlock(&spin));
    CHECK(was_cancelled(t));
    CHECK_IS(s.how, 1);
    CHECK_IS(s.cleaned, 1);
}

const test_case unwind_cases[] = {
    CASE(handlers_run_last_first_with_the_mutex_held), CASE(waits_by_a_clock_and_of_c11_are_cancelled),
    CASE(a_cancelled_threads_destructors_may_lock),    CASE(a_cancelled_initialisation_is_done_again),
    CASE(nothing_else_is_a_cancellation_point),        {0}};
