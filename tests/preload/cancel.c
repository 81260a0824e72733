/* cancel.c - a wait for a condition variable is a cancellation point, a lock is none */
#include "case.h"

#include <signal.h>

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, go;
    _Atomic(int) cleaned, tid;
    bool timed;
} scene;

/* The mutex must be ours again before the program's own handlers run. */
static void clean_up(void *argument)
{
    scene *s = argument;
    CHECK_IS(s->mutex.__data.__owner, own_tid());
    s->cleaned++;
    OK(pthread_mutex_unlock(&s->mutex));
}

static void *wait_to_go(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->mutex));
    s->waiting++;
    pthread_cleanup_push(clean_up, s);
    while (s->go == 0) {
        struct timespec later = in_ms(CLOCK_REALTIME, 100000);
        OK(s->timed ? pthread_cond_timedwait(&s->cond, &s->mutex, &later)
                    : pthread_cond_wait(&s->cond, &s->mutex));
    }
    s->go--;
    s->waiting--;
    pthread_cleanup_pop(0);
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void await_waiting(scene *s, int count)
{
    for (bool all = false; !all; pause_ms(1)) {
        OK(pthread_mutex_lock(&s->mutex));
        all = s->waiting >= count;
        OK(pthread_mutex_unlock(&s->mutex));
    }
}

static bool was_cancelled(pthread_t t)
{
    void *result;
    OK(pthread_join(t, &result));
    return result == PTHREAD_CANCELED;
}

static void begin(scene *s, int i)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    memset(s, 0, sizeof *s);
    make_mutex(&s->mutex, types[i % 4]);
    s->timed = i / 4 % 2 != 0;
}

static void cancel_a_wait(scene *s)
{
    pthread_t t = spawn(wait_to_go, s);
    await_waiting(s, 1);
    OK(pthread_cancel(t));
    CHECK(was_cancelled(t));
    CHECK_IS(s->cleaned, 1);
    OK(try_elsewhere(&s->mutex));
}

static void a_cancelled_wait_owns_the_mutex_again(void)
{
    for (int i = 0; i < 16; i++) {
        scene s;
        begin(&s, i);
        cancel_a_wait(&s);
        OK(pthread_cond_destroy(&s.cond));
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

/* Of glibc's condition variable with a mutex of ours. */
static void a_cancelled_wait_for_a_shared_condvar_owns_the_mutex_again(void)
{
    pthread_condattr_t a;
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    for (int i = 0; i < 8; i++) {
        scene s;
        begin(&s, i);
        OK(pthread_cond_init(&s.cond, &a));
        cancel_a_wait(&s);
    }
}

/* The canceller holds the mutex: the cancelled thread has to wait for it. */
static void a_cancelled_wait_waits_for_the_mutex(void)
{
    for (int i = 0; i < 8; i++) {
        scene s;
        begin(&s, i);
        pthread_t t = spawn(wait_to_go, &s);
        await_waiting(&s, 1);
        OK(pthread_mutex_lock(&s.mutex));
        OK(pthread_cancel(t));
        pause_ms(2);
        CHECK_IS(s.cleaned, 0);
        OK(pthread_mutex_unlock(&s.mutex));
        CHECK(was_cancelled(t));
        CHECK_IS(s.cleaned, 1);
        OK(try_elsewhere(&s.mutex));
    }
}

/* One of two waiters is cancelled while one signal is sent. The signal goes to the other, unless the cancelled one
 * got it, and then it was not cancelled. */
static void a_cancelled_wait_keeps_no_signal(void)
{
    for (int i = 0; i < 120; i++) {
        scene s;
        begin(&s, i);
        pthread_t t[2] = {spawn(wait_to_go, &s), spawn(wait_to_go, &s)};
        await_waiting(&s, 2);
        int victim = i / 8 % 2;
        OK(pthread_mutex_lock(&s.mutex));
        s.go = 1;
        if (i % 3 == 0)
            OK(pthread_cancel(t[victim]));
        OK(pthread_cond_signal(&s.cond));
        if (i % 3 == 1)
            OK(pthread_cancel(t[victim]));
        OK(pthread_mutex_unlock(&s.mutex));
        if (i % 3 == 2)
            OK(pthread_cancel(t[victim]));
        was_cancelled(t[victim]); /* glibc says so of a thread that was only about to return */
        if (s.cleaned > 0) {
            CHECK(!was_cancelled(t[!victim])); /* hangs if the signal was lost */
        } else {
            OK(pthread_mutex_lock(&s.mutex));
            s.go = 1;
            OK(pthread_cond_signal(&s.cond));
            OK(pthread_mutex_unlock(&s.mutex));
            CHECK(!was_cancelled(t[!victim]));
        }
        OK(try_elsewhere(&s.mutex));
    }
}

static void a_broadcast_reaches_those_that_are_left(void)
{
    enum { THREADS = 6 };
    for (int i = 0; i < 40; i++) {
        scene s;
        begin(&s, i);
        pthread_t t[THREADS];
        for (int k = 0; k < THREADS; k++)
            t[k] = spawn(wait_to_go, &s);
        await_waiting(&s, THREADS);
        OK(pthread_mutex_lock(&s.mutex));
        s.go = THREADS;
        OK(pthread_cond_broadcast(&s.cond));
        OK(pthread_mutex_unlock(&s.mutex));
        OK(pthread_cancel(t[i % THREADS]));
        OK(pthread_cancel(t[(i + 2) % THREADS]));
        for (int k = 0; k < THREADS; k++)
            was_cancelled(t[k]);
        OK(try_elsewhere(&s.mutex));
        OK(pthread_cond_destroy(&s.cond));
    }
}

static void *wait_uncancelled(void *argument)
{
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    return wait_to_go(argument);
}

static int errno_at_the_end;

static void note_errno(void *unused)
{
    (void)unused;
    errno_at_the_end = errno;
}

static void *wait_with_errno(void *argument)
{
    scene *s = argument;
    pthread_cleanup_push(note_errno, NULL);
    errno = 77;
    wait_to_go(s);
    pthread_cleanup_pop(0);
    return NULL;
}

/* In the program's cleanup handlers it is what it was before the wait. */
static void errno_survives_cancellation(void)
{
    for (int i = 0; i < 8; i++) {
        scene s;
        begin(&s, i);
        pthread_t t = spawn(wait_with_errno, &s);
        await_waiting(&s, 1);
        OK(pthread_cancel(t));
        CHECK(was_cancelled(t));
        CHECK_IS(errno_at_the_end, 77);
    }
}

static void a_wait_that_disables_it_is_not_cancelled(void)
{
    scene s;
    begin(&s, 0);
    pthread_t t = spawn(wait_uncancelled, &s);
    await_waiting(&s, 1);
    OK(pthread_cancel(t));
    pause_ms(3);
    CHECK_IS(s.cleaned, 0);
    OK(pthread_mutex_lock(&s.mutex));
    s.go = 1;
    OK(pthread_cond_signal(&s.cond));
    OK(pthread_mutex_unlock(&s.mutex));
    CHECK(!was_cancelled(t));
}

static void *cancel_oneself_and_wait(void *argument)
{
    OK(pthread_cancel(pthread_self()));
    return wait_to_go(argument);
}

static void one_that_is_pending_acts_at_once(void)
{
    for (int i = 0; i < 8; i++) {
        scene s;
        begin(&s, i);
        CHECK(was_cancelled(spawn(cancel_oneself_and_wait, &s)));
        CHECK_IS(s.cleaned, 1);
        OK(try_elsewhere(&s.mutex));
    }
}

/* It stays what it was: not asynchronous. */
static void *signal_on_and_on(void *argument)
{
    scene *s = argument;
    while (s->cleaned == 0 && s->tid != -1)
        OK(pthread_cond_signal(&s->cond));
    return NULL;
}

static void *cancel_oneself_and_wait_once(void *argument)
{
    scene *s = argument;
    OK(pthread_cancel(pthread_self()));
    OK(pthread_mutex_lock(&s->mutex));
    pthread_cleanup_push(clean_up, s);
    OK(pthread_cond_wait(&s->cond, &s->mutex));
    pthread_cleanup_pop(0);
    s->tid = -1; /* not cancelled */
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* Even if a signal comes as soon as the wait begins. */
static void one_that_is_pending_acts_before_a_signal(void)
{
    for (int i = 0; i < 20; i++) {
        scene s = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .tid = 0};
        pthread_t signaller = spawn(signal_on_and_on, &s), waiter = spawn(cancel_oneself_and_wait_once, &s);
        CHECK(was_cancelled(waiter));
        OK(pthread_join(signaller, NULL));
        CHECK_IS(s.cleaned, 1);
    }
}

static void *ask_for_the_type(void *argument)
{
    scene *s = argument;
    struct timespec soon = in_ms(CLOCK_REALTIME, 2);
    int type;
    OK(pthread_mutex_lock(&s->mutex));
    CHECK_IS(pthread_cond_timedwait(&s->cond, &s->mutex, &soon), ETIMEDOUT);
    OK(pthread_mutex_unlock(&s->mutex));
    OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    CHECK_IS(type, PTHREAD_CANCEL_DEFERRED);
    return NULL;
}

static void a_wait_restores_the_type_of_cancellation(void)
{
    scene s;
    begin(&s, 0);
    join(spawn(ask_for_the_type, &s));
}

/* ---- lock is no cancellation point */

static void *lock_in_vain(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->mutex));
    s->cleaned = 1;
    OK(pthread_mutex_unlock(&s->mutex));
    pthread_testcancel();
    return NULL;
}

static void waiting_for_a_mutex_is_not_cancelled(void)
{
    scene s;
    begin(&s, 0);
    OK(pthread_mutex_lock(&s.mutex));
    pthread_t t = spawn(lock_in_vain, &s);
    while (s.tid == 0)
        pause_ms(1);
    await_asleep(s.tid);
    OK(pthread_cancel(t));
    pause_ms(2);
    OK(pthread_mutex_unlock(&s.mutex));
    CHECK(was_cancelled(t));
    CHECK_IS(s.cleaned, 1);
}

/* ---- but one that may be cancelled at any instruction goes */

static void *lock_asynchronously(void *argument)
{
    scene *s = argument;
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    s->tid = own_tid();
    if (s->timed) {
        struct timespec later = in_ms(CLOCK_REALTIME, 100000);
        pthread_mutex_timedlock(&s->mutex, &later);
    } else {
        pthread_mutex_lock(&s->mutex);
    }
    s->cleaned = 1;
    return NULL;
}

static pthread_t spawn_to_sleep(void *(*run)(void *), scene *s)
{
    s->tid = 0;
    pthread_t t = spawn(run, s);
    while (s->tid == 0)
        pause_ms(1);
    await_asleep(s->tid);
    return t;
}

static void a_cancelled_locker_leaves_the_others_alone(void)
{
    for (int i = 0; i < 8; i++) {
        scene s;
        begin(&s, i);
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t first = spawn_to_sleep(lock_in_vain, &s);
        pthread_t t = spawn_to_sleep(lock_asynchronously, &s);
        pthread_t last = spawn_to_sleep(lock_in_vain, &s);
        pause_ms(i % 2 * 40); /* also in a wait that has begun anew */
        OK(pthread_cancel(t));
        CHECK(was_cancelled(t)); /* although the mutex is held */
        CHECK_IS(s.cleaned, 0);
        OK(pthread_mutex_unlock(&s.mutex));
        join(first);
        join(last);
        OK(try_elsewhere(&s.mutex));
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

static pthread_mutex_t of_handler = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;

static void lock_in_handler(int signal)
{
    (void)signal;
    pthread_mutex_lock(&of_handler);
    pthread_mutex_unlock(&of_handler);
    handled = 1;
}

/* Whatever the handler does, it has interrupted its thread in the middle of a lock. */
static void a_handler_that_locks_does_not_let_cancellation_in(void)
{
    struct sigaction action = {.sa_handler = lock_in_handler};
    OK(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 24; i++) {
        scene s;
        begin(&s, i);
        handled = 0;
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t t = spawn_to_sleep(lock_asynchronously, &s);
        OK(pthread_kill(t, SIGUSR1));
        while (!handled)
            pause_ms(1);
        OK(pthread_cancel(t));
        OK(pthread_mutex_unlock(&s.mutex));
        CHECK(was_cancelled(t));
        OK(try_elsewhere(&s.mutex));
    }
}

static void a_cancelled_locker_does_not_get_the_mutex(void)
{
    for (int i = 0; i < 24; i++) {
        scene s;
        begin(&s, i);
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t t = spawn_to_sleep(lock_asynchronously, &s);
        OK(pthread_cancel(t));
        OK(pthread_mutex_unlock(&s.mutex));
        CHECK(was_cancelled(t));
        OK(try_elsewhere(&s.mutex));
    }
}

static void unlock_it(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_unlock(&s->mutex));
    s->cleaned = 1;
}

static void *lock_what_one_has(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    pthread_cleanup_push(unlock_it, s);
    lock_asynchronously(s);
    pthread_cleanup_pop(0);
    return NULL;
}

static void a_cancellation_ends_a_deadlock_with_oneself(void)
{
    for (int i = 0; i < 4; i++) {
        scene s;
        begin(&s, 0);
        s.timed = i % 2 != 0;
        pthread_t t = spawn_to_sleep(lock_what_one_has, &s);
        OK(pthread_cancel(t));
        CHECK(was_cancelled(t));
        CHECK_IS(s.cleaned, 1);
        OK(try_elsewhere(&s.mutex));
    }
}

static void *spin_asynchronously(void *argument)
{
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    pthread_spin_lock(argument);
    return NULL;
}

static void a_cancellation_ends_spinning(void)
{
    pthread_spinlock_t s;
    OK(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&s));
    for (int i = 0; i < 10; i++) {
        pthread_t t = spawn(spin_asynchronously, (void *)&s);
        pause_ms(i);
        OK(pthread_cancel(t));
        CHECK(was_cancelled(t));
    }
    OK(pthread_spin_unlock(&s));
    OK(pthread_spin_lock(&s));
}

static void *use_it_asynchronously(void *argument)
{
    scene *s = argument;
    int type;
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type));
    CHECK_IS(type, PTHREAD_CANCEL_DEFERRED);
    CHECK_IS(pthread_mutex_trylock(&s->mutex), EBUSY);
    struct timespec soon = in_ms(CLOCK_REALTIME, 30);
    CHECK_IS(pthread_mutex_timedlock(&s->mutex, &soon), ETIMEDOUT);
    soon.tv_nsec = -1;
    CHECK_IS(pthread_mutex_timedlock(&s->mutex, &soon), EINVAL);
    s->cleaned = 1;
    OK(pthread_mutex_lock(&s->mutex));
    soon = in_ms(CLOCK_REALTIME, 3);
    CHECK_IS(pthread_cond_timedwait(&s->cond, &s->mutex, &soon), ETIMEDOUT);
    OK(pthread_mutex_unlock(&s->mutex));
    OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    CHECK_IS(type, PTHREAD_CANCEL_ASYNCHRONOUS);
    return NULL;
}

static void one_that_is_not_cancelled_locks_as_ever(void)
{
    scene s;
    begin(&s, 0);
    OK(pthread_mutex_lock(&s.mutex));
    pthread_t t = spawn(use_it_asynchronously, &s);
    while (s.cleaned == 0)
        pause_ms(1);
    pause_ms(30); /* it waits more than once */
    OK(pthread_mutex_unlock(&s.mutex));
    CHECK(!was_cancelled(t));
    OK(try_elsewhere(&s.mutex));
}

static void expect_asynchronous(void)
{
    int type;
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type));
    CHECK_IS(type, PTHREAD_CANCEL_ASYNCHRONOUS);
}

static void *call_asynchronously(void *argument)
{
    scene *s = argument;
    pthread_mutex_t own;
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    for (int i = 0; i < 4; i++) {
        struct timespec soon = in_ms(CLOCK_REALTIME, 1), later = in_ms(CLOCK_REALTIME, 100000);
        make_mutex(&own, i % 2 ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_RECURSIVE);
        OK(i < 2 ? pthread_mutex_lock(&own) : pthread_mutex_timedlock(&own, &later));
        expect_asynchronous();
        CHECK_IS(pthread_mutex_trylock(&own), i % 2 ? EBUSY : 0);
        expect_asynchronous();
        CHECK_IS(pthread_mutex_destroy(&own), EBUSY);
        if (i % 2 == 0)
            OK(pthread_mutex_unlock(&own));
        int result;
        while ((result = pthread_cond_timedwait(&s->cond, &own, &soon)) == 0)
            ; /* for no reason, which is allowed */
        CHECK_IS(result, ETIMEDOUT);
        expect_asynchronous();
        OK(pthread_mutex_unlock(&own));
        expect_asynchronous();
        OK(pthread_mutex_destroy(&own));
        expect_asynchronous();
        OK(i % 2 ? pthread_cond_signal(&s->cond) : pthread_cond_broadcast(&s->cond)); /* to one that waits */
        expect_asynchronous();
    }
    CHECK_IS(pthread_setcanceltype(42, NULL), EINVAL);
    return NULL;
}

static void every_call_leaves_the_type_as_it_was(void)
{
    scene s;
    begin(&s, 0);
    pthread_t waiter = spawn(wait_to_go, &s);
    await_waiting(&s, 1);
    CHECK(!was_cancelled(spawn(call_asynchronously, &s)));
    OK(pthread_mutex_lock(&s.mutex));
    s.go = 1;
    OK(pthread_cond_signal(&s.cond));
    OK(pthread_mutex_unlock(&s.mutex));
    join(waiter);
}

const test_case cancel_cases[] = {CASE(a_cancelled_wait_owns_the_mutex_again),
                                  CASE(a_cancelled_wait_for_a_shared_condvar_owns_the_mutex_again),
                                  CASE(a_cancelled_wait_waits_for_the_mutex),
                                  CASE(a_cancelled_wait_keeps_no_signal),
                                  CASE(a_broadcast_reaches_those_that_are_left),
                                  CASE(a_wait_that_disables_it_is_not_cancelled),
                                  CASE(one_that_is_pending_acts_at_once),
                                  CASE(one_that_is_pending_acts_before_a_signal),
                                  CASE(a_wait_restores_the_type_of_cancellation),
                                  CASE(waiting_for_a_mutex_is_not_cancelled),
                                  CASE(a_cancelled_locker_leaves_the_others_alone),
                                  CASE(a_cancelled_locker_does_not_get_the_mutex),
                                  CASE(a_handler_that_locks_does_not_let_cancellation_in),
                                  CASE(a_cancellation_ends_a_deadlock_with_oneself),
                                  CASE(a_cancellation_ends_spinning),
                                  CASE(one_that_is_not_cancelled_locks_as_ever),
                                  CASE(every_call_leaves_the_type_as_it_was),
                                  CASE(errno_survives_cancellation),
                                  {0}};
