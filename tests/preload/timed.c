/* timed.c - timedlock and clocklock time out, trylock never blocks, whatever the lock's order */
#include "case.h"

typedef struct scene {
    pthread_mutex_t mutex;
    _Atomic(bool) stop;
    _Atomic(int) entered, tid;
    _Atomic(int) inside; /* or else the compiler sees that it does not change */
} scene;

static bool is_past(clockid_t clock, const struct timespec *t)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec != t->tv_sec ? now.tv_sec > t->tv_sec : now.tv_nsec >= t->tv_nsec;
}

static void time_out(pthread_mutex_t *m)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; i++) {
        struct timespec soon = in_ms(clocks[i], 7);
        CHECK_IS(pthread_mutex_clocklock(m, clocks[i], &soon), ETIMEDOUT);
        CHECK(is_past(clocks[i], &soon));
    }
    struct timespec soon = in_ms(CLOCK_REALTIME, 3), past = in_ms(CLOCK_REALTIME, -5000), ancient = {-1, 0};
    CHECK_IS(pthread_mutex_timedlock(m, &soon), ETIMEDOUT);
    CHECK(is_past(CLOCK_REALTIME, &soon));
    CHECK_IS(pthread_mutex_timedlock(m, &past), ETIMEDOUT);
    CHECK_IS(pthread_mutex_timedlock(m, &ancient), ETIMEDOUT);
}

static void *time_out_elsewhere(void *mutex)
{
    time_out(mutex);
    return NULL;
}

static void a_timed_lock_times_out(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 4; i++) {
        pthread_mutex_t m;
        make_mutex(&m, types[i]);
        OK(pthread_mutex_lock(&m));
        if (types[i] == PTHREAD_MUTEX_NORMAL)
            time_out(&m); /* its own */
        join(spawn(time_out_elsewhere, &m));
        OK(pthread_mutex_unlock(&m));
        OK(try_elsewhere(&m));
        OK(pthread_mutex_destroy(&m));
    }
}

static void a_free_mutex_needs_no_time(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {0, 0}, wrong = {0, 1000000000}, negative = {0, -1};
    OK(pthread_mutex_timedlock(&m, &past));
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_timedlock(&m, &wrong));
    CHECK_IS(pthread_mutex_timedlock(&m, &wrong), EINVAL);
    CHECK_IS(pthread_mutex_timedlock(&m, &negative), EINVAL);
    CHECK_IS(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &wrong), EINVAL);
    OK(pthread_mutex_unlock(&m));
    OK(try_elsewhere(&m));
}

static void a_timed_lock_knows_two_clocks(void)
{
    static const clockid_t others[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME,
                                       CLOCK_MONOTONIC_RAW,      CLOCK_REALTIME_COARSE,   123456};
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {0, 0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK_IS(pthread_mutex_clocklock(&m, others[i], &past), EINVAL);
    OK(try_elsewhere(&m));
}

/* With timedlock as with lock, the owner is known, and its errors are reported. */
static void a_timed_lock_of_a_checking_mutex_has_an_owner(void)
{
    pthread_mutex_t m;
    make_mutex(&m, PTHREAD_MUTEX_ERRORCHECK);
    struct timespec past = {0, 0};
    OK(pthread_mutex_timedlock(&m, &past));
    CHECK_IS(pthread_mutex_lock(&m), EDEADLK);
    CHECK_IS(pthread_mutex_timedlock(&m, &past), EDEADLK);
    OK(pthread_mutex_unlock(&m));
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
}

/* ---- in a crowd */

/* By the owner: nobody else is inside. */
static void visit_and_unlock(scene *s)
{
    CHECK_IS(s->inside, 0);
    s->inside++;
    s->entered++;
    s->inside--;
    OK(pthread_mutex_unlock(&s->mutex));
}

static void *hammer(void *argument)
{
    scene *s = argument;
    while (!s->stop) {
        OK(pthread_mutex_lock(&s->mutex));
        visit_and_unlock(s);
    }
    return NULL;
}

static void nap(long nanoseconds)
{
    struct timespec t = {0, nanoseconds};
    nanosleep(&t, NULL);
}

static void *hold_in_turns(void *argument)
{
    scene *s = argument;
    while (!s->stop) {
        OK(pthread_mutex_lock(&s->mutex));
        CHECK_IS(s->inside++, 0);
        nap(300000);
        s->inside--;
        OK(pthread_mutex_unlock(&s->mutex));
        nap(50000);
    }
    return NULL;
}

/* Through a lock of which the queue is never empty. */
static void a_timed_lock_succeeds_in_a_crowd(void)
{
    static scene s;
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(hold_in_turns, &s);
    pause_ms(5);
    for (int i = 0; i < 10; i++) {
        struct timespec limit = in_ms(CLOCK_MONOTONIC, 250000);
        OK(pthread_mutex_clocklock(&s.mutex, CLOCK_MONOTONIC, &limit));
        CHECK_IS(s.inside++, 0);
        s.inside--;
        OK(pthread_mutex_unlock(&s.mutex));
    }
    s.stop = true;
    for (int i = 0; i < 4; i++)
        join(t[i]);
    OK(try_elsewhere(&s.mutex));
}

static void *hammer_with_deadlines(void *argument)
{
    scene *s = argument;
    while (!s->stop) {
        struct timespec limit = in_ms(CLOCK_REALTIME, 250000);
        OK(pthread_mutex_timedlock(&s->mutex, &limit));
        visit_and_unlock(s);
    }
    return NULL;
}

/* Whoever comes in the other way, and never rests, is let through only now and then. */
static void take_turns_with(void *(*others)(void *), int (*lock)(pthread_mutex_t *))
{
    static scene s;
    memset(&s, 0, sizeof s);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(others, &s);
    for (int i = 0; i < 20; i++) {
        OK(lock(&s.mutex));
        visit_and_unlock(&s);
    }
    s.stop = true;
    for (int i = 0; i < 4; i++)
        join(t[i]);
}

static int lock_until_late(pthread_mutex_t *m)
{
    struct timespec limit = in_ms(CLOCK_MONOTONIC, 250000);
    return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &limit);
}

static void timed_and_other_locks_take_turns(void)
{
    take_turns_with(hammer, lock_until_late);
    take_turns_with(hammer_with_deadlines, pthread_mutex_lock);
}

static void *wait_in_line(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->mutex));
    s->entered++;
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void stand_in_line(scene *s, pthread_t *t, int count)
{
    for (int i = 0; i < count; i++) {
        s->tid = 0;
        t[i] = spawn(wait_in_line, s);
        while (s->tid == 0)
            pause_ms(1);
        await_asleep(s->tid);
    }
}

/* Those in line before it and behind it are served all the same. */
static void one_that_gives_up_holds_nobody_up(void)
{
    static scene s;
    pthread_t t[3];
    OK(pthread_mutex_lock(&s.mutex));
    stand_in_line(&s, t, 1);
    pthread_t late = spawn(time_out_elsewhere, &s.mutex);
    pause_ms(1);
    stand_in_line(&s, t + 1, 2);
    join(late);
    CHECK_IS(s.entered, 0);
    OK(pthread_mutex_unlock(&s.mutex));
    for (int i = 0; i < 3; i++)
        join(t[i]);
    CHECK_IS(s.entered, 3);
    OK(try_elsewhere(&s.mutex));
}

static void *lock_until_later(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 40; i++) {
        struct timespec limit = in_ms(CLOCK_REALTIME, i % 4 == 0 ? 1 : 20000);
        int result = pthread_mutex_timedlock(&s->mutex, &limit);
        if (result == ETIMEDOUT)
            continue;
        OK(result);
        visit_and_unlock(s);
    }
    return NULL;
}

static void timed_locks_exclude_each_other(void)
{
    static scene s;
    pthread_t t[6];
    for (int i = 0; i < 6; i++)
        t[i] = spawn(i < 4 ? lock_until_later : hammer, &s);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    s.stop = true;
    join(t[4]);
    join(t[5]);
    OK(try_elsewhere(&s.mutex));
    OK(pthread_mutex_destroy(&s.mutex));
}

/* ---- trylock */

static void trylock_never_blocks(void)
{
    static scene s;
    pthread_t t[3];
    OK(pthread_mutex_lock(&s.mutex));
    stand_in_line(&s, t, 3);
    for (int i = 0; i < 100; i++) {
        CHECK_IS(pthread_mutex_trylock(&s.mutex), EBUSY);
        CHECK_IS(try_elsewhere(&s.mutex), EBUSY);
    }
    CHECK_IS(s.entered, 0);
    OK(pthread_mutex_unlock(&s.mutex));
    for (int i = 0; i < 3; i++)
        join(t[i]);
}

static void *try_in_a_loop(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 20000; i++) {
        int result = pthread_mutex_trylock(&s->mutex);
        if (result == EBUSY)
            continue;
        OK(result);
        visit_and_unlock(s);
    }
    return NULL;
}

static void trylock_excludes(void)
{
    static scene s;
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(i < 3 ? try_in_a_loop : hammer, &s);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    s.stop = true;
    join(t[3]);
    CHECK(s.entered > 0);
    OK(try_elsewhere(&s.mutex));
}

const test_case timed_cases[] = {CASE(a_timed_lock_times_out),
                                 CASE(a_free_mutex_needs_no_time),
                                 CASE(a_timed_lock_knows_two_clocks),
                                 CASE(a_timed_lock_of_a_checking_mutex_has_an_owner),
                                 CASE(a_timed_lock_succeeds_in_a_crowd),
                                 CASE(timed_and_other_locks_take_turns),
                                 CASE(one_that_gives_up_holds_nobody_up),
                                 CASE(timed_locks_exclude_each_other),
                                 CASE(trylock_never_blocks),
                                 CASE(trylock_excludes),
                                 {0}};
