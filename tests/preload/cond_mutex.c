/* cond_mutex.c - the mutex of a wait: released, relocked, not locked at all, or one of several */
#include "cond.h"

static void *signal_when_free(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->go = 1;
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* glibc releases one level of it only. */
static void a_recursive_mutex_is_released_and_restored(void)
{
    scene s;
    memset(&s, 0, sizeof s);
    make_mutex(&s.mutex, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 3; i++)
        OK(pthread_mutex_lock(&s.mutex));
    pthread_t other = spawn(signal_when_free, &s);
    while (s.go == 0)
        OK(pthread_cond_wait(&s.cond, &s.mutex));
    join(other);
    struct timespec soon = in_ms(CLOCK_REALTIME, 2);
    CHECK_IS(pthread_cond_timedwait(&s.cond, &s.mutex, &soon), ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        CHECK_IS(try_elsewhere(&s.mutex), EBUSY);
        OK(pthread_mutex_unlock(&s.mutex));
    }
    OK(try_elsewhere(&s.mutex));
    CHECK_IS(pthread_mutex_unlock(&s.mutex), EPERM);
}

static void *wait_at_depth_two(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    OK(pthread_mutex_lock(&s->mutex));
    s->waiting++;
    while (s->go == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    CHECK_IS(try_elsewhere(&s->mutex), EBUSY);
    OK(pthread_mutex_unlock(&s->mutex));
    CHECK_IS(try_elsewhere(&s->mutex), EBUSY);
    OK(pthread_mutex_unlock(&s->mutex));
    CHECK_IS(pthread_mutex_unlock(&s->mutex), EPERM);
    return NULL;
}

/* Also of those that a broadcast makes wait for the mutex at once. */
static void a_broadcast_restores_recursive_mutexes(void)
{
    scene s;
    memset(&s, 0, sizeof s);
    make_mutex(&s.mutex, PTHREAD_MUTEX_RECURSIVE);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(wait_at_depth_two, &s);
    await_waiting(&s, 4);
    OK(pthread_mutex_lock(&s.mutex));
    s.go = 1;
    OK(pthread_cond_broadcast(&s.cond));
    pause_ms(5);
    OK(pthread_mutex_unlock(&s.mutex));
    for (int i = 0; i < 4; i++)
        join(t[i]);
    OK(pthread_mutex_destroy(&s.mutex));
}

static void a_mutex_is_not_destroyed_while_somebody_waits_with_it(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 3; i++) {
        scene s;
        memset(&s, 0, sizeof s);
        make_mutex(&s.mutex, types[i]);
        pthread_t t[2] = {spawn(wait_to_go, &s), spawn(wait_to_go, &s)};
        await_waiting(&s, 2);
        CHECK_IS(pthread_mutex_destroy(&s.mutex), EBUSY);
        pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
        OK(pthread_mutex_destroy(&other));
        for (int k = 0; k < 2; k++) {
            OK(pthread_mutex_lock(&s.mutex));
            s.go++;
            OK(pthread_cond_signal(&s.cond));
            OK(pthread_mutex_unlock(&s.mutex));
        }
        join(t[0]);
        join(t[1]);
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

/* ---- with a mutex that the caller has not locked: it has it afterwards */

static int wait_a_moment(scene *s)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 1);
    return pthread_cond_timedwait(&s->cond, &s->mutex, &soon);
}

static void a_wait_bears_a_mutex_that_nobody_has_locked(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 4; i++) {
        scene s = {.cond = PTHREAD_COND_INITIALIZER};
        make_mutex(&s.mutex, types[i % 2]);
        if (i >= 2) { /* not its first use */
            OK(pthread_mutex_lock(&s.mutex));
            OK(pthread_mutex_unlock(&s.mutex));
        }
        CHECK_IS(wait_a_moment(&s), ETIMEDOUT);
        CHECK_IS(s.mutex.__data.__owner, own_tid());
        CHECK_IS(try_elsewhere(&s.mutex), EBUSY);
        OK(pthread_mutex_unlock(&s.mutex));
        OK(try_elsewhere(&s.mutex));
    }
    scene checked = {.mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP};
    CHECK_IS(wait_a_moment(&checked), EPERM);
    scene recursive = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
    CHECK_IS(wait_a_moment(&recursive), EPERM);
}

static void *wait_without_locking(void *argument)
{
    scene *s = argument;
    __atomic_fetch_add(&s->waiting, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&s->go, __ATOMIC_RELAXED) == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void a_signal_ends_such_a_wait(void)
{
    static scene s;
    pthread_t t = spawn(wait_without_locking, &s);
    while (__atomic_load_n(&s.waiting, __ATOMIC_RELAXED) == 0)
        pause_ms(1);
    __atomic_store_n(&s.go, 1, __ATOMIC_RELAXED);
    OK(pthread_mutex_lock(&s.mutex)); /* it may be on its way to the queue */
    OK(pthread_mutex_unlock(&s.mutex));
    while (pthread_tryjoin_np(t, NULL) != 0) {
        OK(pthread_cond_signal(&s.cond));
        pause_ms(1);
    }
    OK(try_elsewhere(&s.mutex));
}

static void *wait_with_what_another_holds(void *argument)
{
    scene *s = argument;
    __atomic_store_n(&s->waiting, own_tid(), __ATOMIC_RELEASE);
    while (__atomic_load_n(&s->go, __ATOMIC_RELAXED) == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    CHECK_IS(s->mutex.__data.__owner, own_tid());
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* glibc unlocks it. */
static void another_threads_mutex_stays_locked(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 2; i++) {
        scene s = {.cond = PTHREAD_COND_INITIALIZER};
        make_mutex(&s.mutex, types[i]);
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t t = spawn(wait_with_what_another_holds, &s);
        int tid;
        while ((tid = __atomic_load_n(&s.waiting, __ATOMIC_ACQUIRE)) == 0)
            pause_ms(1);
        await_asleep(tid);
        CHECK_IS(s.mutex.__data.__owner, own_tid());
        CHECK_IS(try_elsewhere(&s.mutex), EBUSY);
        __atomic_store_n(&s.go, 1, __ATOMIC_RELAXED);
        OK(pthread_cond_signal(&s.cond)); /* now it waits for the mutex */
        CHECK_IS(try_elsewhere(&s.mutex), EBUSY);
        OK(pthread_mutex_unlock(&s.mutex));
        while (pthread_tryjoin_np(t, NULL) != 0) { /* the signal may have come before the wait */
            OK(pthread_cond_signal(&s.cond));
            pause_ms(1);
        }
        OK(try_elsewhere(&s.mutex));
    }
}

static void *wait_again_and_again(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 300; i++) {
        struct timespec now = in_ms(CLOCK_REALTIME, 0);
        CHECK_IS(pthread_cond_timedwait(&s->cond, &s->mutex, &now), ETIMEDOUT);
    }
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* The first wait of each may release what another thread holds: all of them go on. */
static void such_waits_do_not_hang_each_other(void)
{
    for (int round = 0; round < 10; round++) {
        scene s;
        memset(&s, 0, sizeof s);
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
            t[i] = spawn(wait_again_and_again, &s);
        for (int i = 0; i < 3; i++)
            join(t[i]);
        OK(pthread_mutex_lock(&s.mutex));
        OK(pthread_mutex_unlock(&s.mutex));
    }
}

static void *serve(void *argument)
{
    void **three = argument;
    OK(pthread_mutex_lock(three[1]));
    *(int *)three[2] = 1;
    OK(pthread_cond_signal(three[0]));
    OK(pthread_mutex_unlock(three[1]));
    return NULL;
}

static void *lock_again_and_again(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 3000; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

/* A mutex that another thread holds is released once, by that thread. */
static void such_waits_do_not_disturb_those_that_lock(void)
{
    for (int round = 0; round < 10; round++) {
        scene s;
        memset(&s, 0, sizeof s);
        pthread_t t[] = {spawn(wait_again_and_again, &s), spawn(lock_again_and_again, &s),
                         spawn(lock_again_and_again, &s)};
        for (int i = 0; i < 3; i++)
            join(t[i]);
        OK(try_elsewhere(&s.mutex));
    }
}

static void two_mutexes_use_it_in_turn(void)
{
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                            PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP};
    for (int i = 0; i < 60; i++) {
        int ready = 0;
        void *three[] = {&c, &m[i % 3], &ready};
        OK(pthread_mutex_lock(&m[i % 3]));
        pthread_t other = spawn(serve, three);
        while (ready == 0)
            OK(pthread_cond_wait(&c, &m[i % 3]));
        OK(pthread_mutex_unlock(&m[i % 3]));
        join(other);
    }
}

/* Not what POSIX allows, but what glibc does: a broadcast ends all waits, whatever mutex they are with. */
typedef struct medley {
    pthread_cond_t cond;
    pthread_mutex_t mutex[3];
    int waiting[3], go[3];
} medley;

typedef struct part {
    medley *in;
    int which;
} part;

static void *wait_with_one_of_them(void *argument)
{
    part *p = argument;
    medley *m = p->in;
    OK(pthread_mutex_lock(&m->mutex[p->which]));
    m->waiting[p->which]++;
    while (m->go[p->which] == 0)
        OK(pthread_cond_wait(&m->cond, &m->mutex[p->which]));
    OK(pthread_mutex_unlock(&m->mutex[p->which]));
    return NULL;
}

static void a_broadcast_reaches_waits_with_several_mutexes(void)
{
    for (int round = 0; round < 20; round++) {
        medley m = {.cond = PTHREAD_COND_INITIALIZER};
        part parts[9];
        pthread_t t[9];
        for (int i = 0; i < 9; i++) {
            parts[i] = (part){&m, i % 3};
            t[i] = spawn(wait_with_one_of_them, &parts[i]);
        }
        for (int k = 0; k < 3; k++)
            for (bool all = false; !all;) {
                OK(pthread_mutex_lock(&m.mutex[k]));
                all = m.waiting[k] == 3;
                m.go[k] = all;
                OK(pthread_mutex_unlock(&m.mutex[k]));
                sched_yield();
            }
        OK(pthread_cond_broadcast(&m.cond));
        for (int i = 0; i < 9; i++)
            join(t[i]);
    }
}

/* ---- with mutexes that are glibc's */

/* False if the kernel has no such mutexes. */
static bool make_glibcs(pthread_mutex_t *m, int which)
{
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(which == 0   ? pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED)
       : which == 1 ? pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST)
                    : pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));
    int error = pthread_mutex_init(m, &a);
    if (which == 0 || error != ENOTSUP)
        OK(error);
    return error == 0;
}

/* Both of them are glibc's, and so is the wait. */
static void a_wait_that_is_glibcs_says_what_glibc_says(void)
{
    scene s;
    pthread_condattr_t a;
    OK(pthread_condattr_init(&a));
    OK(pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&s.cond, &a));
    make_glibcs(&s.mutex, 0);
    OK(pthread_mutex_lock(&s.mutex));
    CHECK_IS(wait_a_moment(&s), ETIMEDOUT);
    struct timespec soon = in_ms(CLOCK_MONOTONIC, 1), later = in_ms(CLOCK_MONOTONIC, 1);
    CHECK_IS(pthread_cond_clockwait(&s.cond, &s.mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    CHECK_IS(pthread_mutex_timedlock(&s.mutex, &soon), ETIMEDOUT);
    CHECK_IS(pthread_mutex_clocklock(&s.mutex, CLOCK_MONOTONIC, &later), ETIMEDOUT);
    CHECK_IS(pthread_mutex_trylock(&s.mutex), EBUSY);
    OK(pthread_cond_signal(&s.cond));
    OK(pthread_cond_broadcast(&s.cond));
    OK(pthread_cond_destroy(&s.cond));
    OK(pthread_mutex_unlock(&s.mutex));
    OK(pthread_mutex_destroy(&s.mutex));
}

static void a_broadcast_reaches_waits_with_glibcs_mutexes(void)
{
    for (int i = 0; i < 6; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        if (!make_glibcs(&s.mutex, i % 3))
            continue;
        pthread_t t[3];
        for (int k = 0; k < 3; k++)
            t[k] = spawn(wait_to_go, &s);
        await_waiting(&s, 3);
        OK(pthread_mutex_lock(&s.mutex));
        s.go = 3;
        OK(pthread_cond_broadcast(&s.cond));
        OK(pthread_mutex_unlock(&s.mutex));
        for (int k = 0; k < 3; k++)
            join(t[k]);
        OK(pthread_mutex_destroy(&s.mutex));
        OK(pthread_mutex_init(&s.mutex, NULL)); /* ours, where glibc's was */
        OK(pthread_mutex_destroy(&s.mutex));
    }
}

/* Which of libpawl's buckets has the users of this mutex. */
static unsigned users_bucket(const scene *s)
{
    return (unsigned)(((uint64_t)(uintptr_t)&s->mutex + 1) * 0x9E3779B97F4A7C15u >> 54);
}

static void such_a_wait_leaves_the_users_of_other_mutexes_alone(void)
{
    static scene s[8192];
    int i = 1;
    while (i < 8192 && users_bucket(&s[i]) != users_bucket(&s[0]))
        i++;
    CHECK(i < 8192);
    pthread_t t = spawn(wait_to_go, &s[i]);
    await_waiting(&s[i], 1);
    make_glibcs(&s[0].mutex, 0);
    OK(pthread_mutex_lock(&s[0].mutex));
    CHECK_IS(wait_a_moment(&s[0]), ETIMEDOUT);
    OK(pthread_mutex_unlock(&s[0].mutex));
    CHECK_IS(pthread_mutex_destroy(&s[i].mutex), EBUSY);
    OK(pthread_mutex_lock(&s[i].mutex));
    s[i].go = 1;
    OK(pthread_cond_signal(&s[i].cond));
    OK(pthread_mutex_unlock(&s[i].mutex));
    join(t);
    OK(pthread_mutex_destroy(&s[i].mutex));
}

const test_case cond_mutex_cases[] = {BEYOND(a_recursive_mutex_is_released_and_restored),
                                      BEYOND(a_broadcast_restores_recursive_mutexes),
                                      CASE(a_mutex_is_not_destroyed_while_somebody_waits_with_it),
                                      CASE(a_wait_bears_a_mutex_that_nobody_has_locked),
                                      CASE(a_signal_ends_such_a_wait),
                                      BEYOND(another_threads_mutex_stays_locked),
                                      CASE(such_waits_do_not_hang_each_other),
                                      CASE(such_waits_do_not_disturb_those_that_lock),
                                      CASE(two_mutexes_use_it_in_turn),
                                      CASE(a_broadcast_reaches_waits_with_several_mutexes),
                                      CASE(a_wait_that_is_glibcs_says_what_glibc_says),
                                      CASE(a_broadcast_reaches_waits_with_glibcs_mutexes),
                                      CASE(such_a_wait_leaves_the_users_of_other_mutexes_alone),
                                      {0}};
