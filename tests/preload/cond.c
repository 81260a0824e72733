/* cond.c - condition variables */
#include "case.h"

#include <stdio.h>
#include <sys/mman.h>

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, go, gone;
} scene;

static void *wait_to_go(void *argument)
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

static void await_waiting(scene *s, int count)
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

/* ---- its mutex */

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

/* The first wait of each may let go of what another has: all of them go on. */
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

/* A mutex that is another's is released once, by that one. */
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

/* ---- its end */

/* In memory that is gone as soon as all have been told to go. */
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

static void it_is_destroyed_right_after_broadcast(void)
{
    enum { THREADS = 4 };
    for (int k = 0; k < 60; k++) {
        static scene s;
        memset(&s, 0, sizeof s);
        pthread_cond_t *c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(c != MAP_FAILED);
        OK(pthread_cond_init(c, NULL));
        void *both[] = {&s, c};
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++)
            t[i] = spawn(wait_on_page, both);
        await_waiting(&s, THREADS);
        OK(pthread_mutex_lock(&s.mutex));
        s.go = 1;
        OK(pthread_cond_broadcast(c));
        if (k % 2 == 0) {
            OK(pthread_cond_destroy(c));
            OK(mprotect(c, 4096, PROT_NONE));
        }
        OK(pthread_mutex_unlock(&s.mutex));
        if (k % 2 != 0) {
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

/* ---- many */

enum { ROOM = 3, ITEMS = 1500 };

typedef struct buffer {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    int count, made, taken;
} buffer;

static void *make(void *argument)
{
    buffer *b = argument;
    for (;;) {
        OK(pthread_mutex_lock(&b->mutex));
        while (b->count == ROOM)
            OK(pthread_cond_wait(&b->not_full, &b->mutex));
        bool end = b->made == ITEMS;
        if (!end) {
            b->made++;
            b->count++;
        }
        OK(pthread_cond_signal(end ? &b->not_full : &b->not_empty));
        OK(pthread_mutex_unlock(&b->mutex));
        if (end)
            return NULL;
    }
}

static void *take(void *argument)
{
    buffer *b = argument;
    for (;;) {
        OK(pthread_mutex_lock(&b->mutex));
        while (b->count == 0 && b->taken < ITEMS) {
            struct timespec later = in_ms(CLOCK_REALTIME, 200000);
            OK(b->taken % 2 ? pthread_cond_wait(&b->not_empty, &b->mutex)
                            : pthread_cond_timedwait(&b->not_empty, &b->mutex, &later));
        }
        bool end = b->taken == ITEMS;
        if (!end) {
            b->count--;
            b->taken++;
        }
        OK(pthread_cond_signal(end || b->taken == ITEMS ? &b->not_empty : &b->not_full));
        if (b->taken == ITEMS)
            OK(pthread_cond_signal(&b->not_full));
        OK(pthread_mutex_unlock(&b->mutex));
        if (end)
            return NULL;
    }
}

/* A lost signal would leave somebody asleep with work to do. */
static void no_signal_is_lost(void)
{
    static buffer b;
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        t[i] = spawn(i % 2 ? make : take, &b);
    for (int i = 0; i < 8; i++)
        join(t[i]);
    CHECK_IS(b.taken, ITEMS);
}

/* After the pattern of glibc's bug 25847, where a signal could go to a waiter that came later, and be lost: groups of
 * waiters that come and go, of which exactly as many are signalled as wait. */
typedef struct groups {
    pthread_mutex_t mutex;
    pthread_cond_t cond, done;
    int tickets, woken, rounds;
} groups;

enum { ROUNDS = 400, GROUP = 4 };

static void *come_and_go(void *argument)
{
    groups *g = argument;
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&g->mutex));
        int mine = g->rounds;
        g->tickets++;
        OK(pthread_cond_signal(&g->done));
        while (g->rounds == mine)
            OK(pthread_cond_wait(&g->cond, &g->mutex));
        OK(pthread_mutex_unlock(&g->mutex));
    }
    return NULL;
}

static void a_signal_reaches_those_that_wait(void)
{
    static groups g;
    pthread_t t[GROUP];
    for (int i = 0; i < GROUP; i++)
        t[i] = spawn(come_and_go, &g);
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&g.mutex));
        while (g.tickets < GROUP)
            OK(pthread_cond_wait(&g.done, &g.mutex));
        g.tickets = 0;
        g.rounds++;
        OK(pthread_mutex_unlock(&g.mutex));
        for (int k = 0; k < GROUP; k++) /* one each, and not under the mutex */
            OK(pthread_cond_signal(&g.cond));
    }
    for (int i = 0; i < GROUP; i++)
        join(t[i]);
}

const test_case cond_cases[] = {CASE(signals_wake_one_each),
                                CASE(broadcast_wakes_all_of_every_type),
                                CASE(a_signal_that_nobody_awaits_is_gone),
                                CASE(a_wait_times_out_by_the_clock_it_was_given),
                                CASE(a_wait_says_what_is_wrong),
                                BEYOND(a_recursive_mutex_is_released_and_restored),
                                CASE(a_mutex_is_not_destroyed_while_somebody_waits_with_it),
                                CASE(a_wait_bears_a_mutex_that_nobody_has_locked),
                                CASE(a_signal_ends_such_a_wait),
                                CASE(such_waits_do_not_hang_each_other),
                                CASE(such_waits_do_not_disturb_those_that_lock),
                                CASE(two_mutexes_use_it_in_turn),
                                CASE(a_broadcast_reaches_waits_with_several_mutexes),
                                CASE(it_is_destroyed_right_after_broadcast),
                                CASE(one_that_was_never_initialised_works),
                                CASE(no_signal_is_lost),
                                BEYOND(a_signal_reaches_those_that_wait),
                                {0}};
