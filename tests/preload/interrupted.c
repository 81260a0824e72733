/* interrupted.c - signals that arrive while a thread waits: their handlers run, and the wait goes on */
#include "case.h"

#include <signal.h>

enum { SIGNALS = 20 };

static pthread_mutex_t mutex, others = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static _Atomic(int) tid, handled, over;
static _Atomic(bool) go;

static void count_it(int unused)
{
    (void)unused;
    handled++;
}

/* Without SA_RESTART: system calls say EINTR. */
static void expect_signals(void)
{
    struct sigaction action = {.sa_handler = count_it};
    OK(sigaction(SIGUSR1, &action, NULL));
}

static pthread_t spawn_and_await(void *(*run)(void *))
{
    tid = handled = over = 0;
    pthread_t t = spawn(run, NULL);
    while (tid == 0)
        pause_ms(1);
    await_asleep(tid);
    return t;
}

static void interrupt_it(pthread_t t)
{
    for (int i = 0; i < SIGNALS; i++) {
        int before = handled;
        OK(pthread_kill(t, SIGUSR1));
        while (handled == before)
            pause_ms(1);
    }
}

/* ---- a mutex */

static void *lock_it(void *unused)
{
    tid = own_tid();
    OK(pthread_mutex_lock(&mutex));
    over = 1;
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void *lock_it_by_the_clock(void *unused)
{
    struct timespec late = in_ms(CLOCK_MONOTONIC, 100000);
    tid = own_tid();
    OK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &late));
    over = 1;
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void a_signal_does_not_end_a_wait_for_a_mutex(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    expect_signals();
    for (int i = 0; i < 8; i++) {
        make_mutex(&mutex, types[i % 4]);
        OK(pthread_mutex_lock(&mutex));
        pthread_t t = spawn_and_await(i < 4 ? lock_it : lock_it_by_the_clock);
        interrupt_it(t);
        CHECK_IS(over, 0);
        OK(pthread_mutex_unlock(&mutex));
        join(t);
        CHECK_IS(over, 1);
        OK(pthread_mutex_destroy(&mutex));
    }
}

static void *time_out(void *unused)
{
    struct timespec soon = in_ms(CLOCK_MONOTONIC, 60), now;
    tid = own_tid();
    CHECK_IS(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
    over = 1;
    return unused;
}

static void a_signal_does_not_change_when_a_lock_times_out(void)
{
    expect_signals();
    make_mutex(&mutex, PTHREAD_MUTEX_NORMAL);
    OK(pthread_mutex_lock(&mutex));
    do { /* until a signal came in time */
        tid = handled = over = 0;
        pthread_t t = spawn(time_out, NULL);
        while (tid == 0)
            pause_ms(1);
        while (!over) {
            OK(pthread_kill(t, SIGUSR1));
            pause_ms(2);
        }
        join(t);
    } while (handled == 0);
    CHECK_IS(try_elsewhere(&mutex), EBUSY);
}

/* ---- a condition variable */

/* It may return for no reason, but not with EINTR, and not without the mutex. */
static void *wait_to_go(void *timed)
{
    struct timespec late = in_ms(CLOCK_REALTIME, 100000);
    OK(pthread_mutex_lock(&mutex));
    tid = own_tid();
    while (!go) {
        OK(timed != NULL ? pthread_cond_timedwait(&cond, &mutex, &late) : pthread_cond_wait(&cond, &mutex));
        CHECK_IS(mutex.__data.__owner, own_tid());
    }
    over = 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *wait_to_go_by_the_clock(void *unused)
{
    (void)unused;
    return wait_to_go(&cond);
}

static void a_signal_does_not_end_a_wait_for_a_condvar(void)
{
    expect_signals();
    for (int i = 0; i < 4; i++) {
        make_mutex(&mutex, i < 2 ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_ERRORCHECK);
        go = false;
        pthread_t t = spawn_and_await(i % 2 ? wait_to_go_by_the_clock : wait_to_go);
        interrupt_it(t);
        CHECK_IS(over, 0);
        OK(pthread_mutex_lock(&mutex));
        go = true;
        OK(pthread_cond_signal(&cond));
        OK(pthread_mutex_unlock(&mutex));
        join(t);
        CHECK_IS(over, 1);
    }
}

/* ---- a spin lock */

static void *spin_until_free(void *unused)
{
    tid = own_tid();
    OK(pthread_spin_lock(&spin));
    over = 1;
    OK(pthread_spin_unlock(&spin));
    return unused;
}

static void a_signal_does_not_end_a_wait_for_a_spin_lock(void)
{
    expect_signals();
    for (int i = 0; i < 2; i++) {
        OK(pthread_spin_init(&spin, i == 0 ? PTHREAD_PROCESS_PRIVATE : PTHREAD_PROCESS_SHARED));
        OK(pthread_spin_lock(&spin));
        tid = handled = over = 0;
        pthread_t t = spawn(spin_until_free, NULL);
        while (tid == 0)
            pause_ms(1);
        interrupt_it(t);
        CHECK_IS(over, 0);
        OK(pthread_spin_unlock(&spin));
        join(t);
        CHECK_IS(over, 1);
    }
}

/* ---- every function */

static void *call_them_all(void *unused)
{
    pthread_mutex_t m;
    pthread_cond_t c;
    pthread_spinlock_t s;
    tid = own_tid();
    while (!over) {
        struct timespec past = {0, 0}, late = in_ms(CLOCK_REALTIME, 100000);
        OK(pthread_mutex_init(&m, NULL));
        OK(pthread_cond_init(&c, NULL));
        OK(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE));
        OK(pthread_mutex_lock(&m));
        CHECK_IS(pthread_mutex_trylock(&m), EBUSY);
        CHECK_IS(pthread_mutex_timedlock(&m, &past), ETIMEDOUT);
        CHECK_IS(pthread_cond_timedwait(&c, &m, &past), ETIMEDOUT);
        OK(pthread_mutex_unlock(&m));
        OK(pthread_mutex_timedlock(&m, &late));
        OK(pthread_cond_signal(&c));
        OK(pthread_cond_broadcast(&c));
        OK(pthread_mutex_unlock(&m));
        OK(pthread_mutex_lock(&others)); /* contended */
        OK(pthread_mutex_unlock(&others));
        OK(pthread_spin_lock(&s));
        CHECK_IS(pthread_spin_trylock(&s), EBUSY);
        OK(pthread_spin_unlock(&s));
        OK(pthread_spin_destroy(&s));
        OK(pthread_cond_destroy(&c));
        OK(pthread_mutex_destroy(&m));
    }
    return unused;
}

static void no_function_says_that_it_was_interrupted(void)
{
    expect_signals();
    tid = handled = over = 0;
    pthread_t t = spawn(call_them_all, NULL);
    while (tid == 0)
        pause_ms(1);
    while (handled < 300) {
        int before = handled;
        OK(pthread_mutex_lock(&others));
        OK(pthread_kill(t, SIGUSR1));
        OK(pthread_mutex_unlock(&others));
        while (handled == before)
            sched_yield();
    }
    over = 1;
    join(t);
}

/* ---- a condition variable that processes share, with a mutex of ours */

static pthread_cond_t shared;

static void *wait_with_errno(void *unused)
{
    tid = own_tid();
    OK(pthread_mutex_lock(&others));
    errno = 77;
    while (!go)
        OK(pthread_cond_wait(&shared, &others));
    CHECK_IS(errno, 77);
    OK(pthread_mutex_unlock(&others));
    return unused;
}

static void errno_survives_an_interrupted_wait(void)
{
    pthread_condattr_t a;
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&shared, &a));
    expect_signals();
    pthread_t t = spawn_and_await(wait_with_errno);
    interrupt_it(t);
    OK(pthread_mutex_lock(&others));
    go = true;
    OK(pthread_cond_signal(&shared));
    OK(pthread_mutex_unlock(&others));
    join(t);
}

static void *spin_with_errno(void *unused)
{
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    tid = own_tid();
    errno = 77;
    OK(pthread_spin_lock(&spin));
    CHECK_IS(errno, 77);
    OK(pthread_spin_unlock(&spin));
    return unused;
}

static void errno_survives_interrupted_spinning(void)
{
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&spin));
    expect_signals();
    tid = 0;
    pthread_t t = spawn(spin_with_errno, NULL);
    while (tid == 0)
        pause_ms(1);
    interrupt_it(t);
    OK(pthread_spin_unlock(&spin));
    join(t);
}

const test_case interrupted_cases[] = {
    CASE(a_signal_does_not_end_a_wait_for_a_mutex),   CASE(a_signal_does_not_change_when_a_lock_times_out),
    CASE(a_signal_does_not_end_a_wait_for_a_condvar), CASE(a_signal_does_not_end_a_wait_for_a_spin_lock),
    CASE(no_function_says_that_it_was_interrupted),   CASE(errno_survives_an_interrupted_wait),
    CASE(errno_survives_interrupted_spinning),        {0}};
