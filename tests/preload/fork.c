/* fork.c - in a child, where those that waited do not exist */
#include "case.h"
#include "early.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    _Atomic(int) tid, entered;
    _Atomic(bool) stop;
    int go, waiting;
} scene;

static void *wait_in_line(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->mutex));
    s->entered++;
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static pthread_t stand_in_line(scene *s)
{
    s->tid = 0;
    pthread_t t = spawn(wait_in_line, s);
    while (s->tid == 0)
        pause_ms(1);
    await_asleep(s->tid);
    return t;
}

static void *count_up(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < 300; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        s->waiting++;
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

/* A child uses the mutex as if it were new, also from several threads. */
static void use_it_all(scene *s)
{
    s->waiting = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = spawn(count_up, s);
    count_up(s);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    CHECK_IS(s->waiting, 4 * 300);
    OK(pthread_mutex_lock(&s->mutex));
    CHECK_IS(s->mutex.__data.__owner, own_tid());
    CHECK_IS(try_elsewhere(&s->mutex), EBUSY);
    OK(pthread_mutex_unlock(&s->mutex));
    OK(try_elsewhere(&s->mutex));
    OK(pthread_mutex_destroy(&s->mutex));
}

/* ---- held by the thread that forks, with others in line */

static void fork_with_waiters(int type, int depth, int times, void (*in_child)(scene *s, int depth))
{
    for (int i = 0; i < times; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        make_mutex(&s.mutex, type);
        for (int k = 0; k < depth; k++)
            OK(pthread_mutex_lock(&s.mutex));
        pthread_t a = stand_in_line(&s), b = stand_in_line(&s);
        int child = fork();
        if (child == 0) {
            in_child(&s, depth);
            _exit(0);
        }
        OK(child_status(child));
        CHECK_IS(s.entered, 0);
        for (int k = 0; k < depth; k++)
            OK(pthread_mutex_unlock(&s.mutex));
        join(a);
        join(b);
        CHECK_IS(s.entered, 2);
    }
}

static void unlock_and_use(scene *s, int depth)
{
    for (int k = 0; k < depth; k++)
        OK(pthread_mutex_unlock(&s->mutex));
    CHECK_IS(s->mutex.__data.__owner, 0);
    use_it_all(s);
}

static void a_child_unlocks_what_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 30, unlock_and_use);
    fork_with_waiters(PTHREAD_MUTEX_ADAPTIVE_NP, 1, 3, unlock_and_use);
}

static void relock_and_use(scene *s, int depth)
{
    CHECK_IS(pthread_mutex_trylock(&s->mutex), s->mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY);
    if (s->mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE)
        OK(pthread_mutex_unlock(&s->mutex));
    else
        CHECK_IS(pthread_mutex_lock(&s->mutex), EDEADLK);
    unlock_and_use(s, depth);
}

/* glibc looks for the tid that the owner had in the parent. */
static void a_child_owns_recursive_and_checking_mutexes(void)
{
    fork_with_waiters(PTHREAD_MUTEX_RECURSIVE, 3, 5, relock_and_use);
    fork_with_waiters(PTHREAD_MUTEX_ERRORCHECK, 1, 5, relock_and_use);
}

static void init_and_use(scene *s, int depth)
{
    (void)depth;
    OK(pthread_mutex_init(&s->mutex, NULL));
    use_it_all(s);
}

static void a_child_initialises_what_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 10, init_and_use);
}

/* A thread of the child waits for what the child holds since before the fork. */
static void unlock_for_another(scene *s, int depth)
{
    CHECK_IS(pthread_mutex_trylock(&s->mutex), EBUSY);
    CHECK_IS(try_elsewhere(&s->mutex), EBUSY);
    pthread_t t = stand_in_line(s);
    CHECK_IS(s->entered, 0);
    for (int k = 0; k < depth; k++)
        OK(pthread_mutex_unlock(&s->mutex));
    join(t);
    CHECK_IS(s->entered, 1);
    use_it_all(s);
}

static void a_childs_threads_wait_for_what_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 5, unlock_for_another);
}

static void *signal_it(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->go = 1;
    OK(pthread_cond_broadcast(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void wait_with_it(scene *s, int depth)
{
    pthread_t t = spawn(signal_it, s);
    while (s->go == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    join(t);
    unlock_and_use(s, depth);
}

static void a_child_waits_with_what_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 5, wait_with_it);
}

static void a_child_waits_with_a_recursive_one_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_RECURSIVE, 2, 3, wait_with_it);
}

static void fork_again(scene *s, int depth)
{
    int child = fork();
    if (child == 0) {
        int grandchild = fork();
        if (grandchild == 0) {
            unlock_and_use(s, depth);
            _exit(0);
        }
        OK(child_status(grandchild));
        unlock_and_use(s, depth);
        _exit(0);
    }
    OK(child_status(child));
    unlock_and_use(s, depth);
}

static void a_childs_child_unlocks_what_it_held(void)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 5, fork_again);
}

static void a_childs_child_owns_recursive_mutexes(void)
{
    fork_with_waiters(PTHREAD_MUTEX_RECURSIVE, 2, 3, fork_again);
}

static void *fork_in_a_thread(void *unused)
{
    fork_with_waiters(PTHREAD_MUTEX_NORMAL, 1, 5, unlock_and_use);
    return unused;
}

static void any_thread_may_fork(void)
{
    join(spawn(fork_in_a_thread, NULL));
}

/* ---- free, or held by somebody else */

static void *hold_it(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    while (!s->stop)
        pause_ms(1);
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void what_another_thread_held_stays_locked(void)
{
    static scene s;
    pthread_t t = spawn(hold_it, &s);
    while (s.tid == 0)
        pause_ms(1);
    int child = fork();
    if (child == 0) {
        struct timespec soon = in_ms(CLOCK_REALTIME, 10);
        CHECK_IS(pthread_mutex_trylock(&s.mutex), EBUSY);
        CHECK_IS(pthread_mutex_timedlock(&s.mutex, &soon), ETIMEDOUT);
        CHECK_IS(pthread_mutex_destroy(&s.mutex), EBUSY);
        OK(pthread_mutex_init(&s.mutex, NULL));
        use_it_all(&s);
        _exit(0);
    }
    OK(child_status(child));
    s.stop = true;
    join(t);
    OK(try_elsewhere(&s.mutex));
}

static void *hammer(void *argument)
{
    scene *s = argument;
    while (!s->stop) {
        OK(pthread_mutex_lock(&s->mutex));
        s->entered++;
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

/* Whatever the others were doing at that instant, what the child makes itself works. */
static void a_fork_in_a_crowd_leaves_the_child_whole(void)
{
    static scene s;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = spawn(hammer, &s);
    for (int i = 0; i < 20; i++) {
        int child = fork();
        if (child == 0) {
            static scene own;
            use_it_all(&own);
            int result = pthread_mutex_trylock(&s.mutex);
            CHECK(result == 0 || result == EBUSY);
            if (result == 0)
                OK(pthread_mutex_unlock(&s.mutex));
            _exit(0);
        }
        OK(child_status(child));
        pause_ms(1);
    }
    s.stop = true;
    for (int i = 0; i < 3; i++)
        join(t[i]);
}

/* The usual discipline: fork with the mutex held, so that no other thread is in the middle of anything. */
static void a_fork_under_the_lock_in_a_crowd(void)
{
    static scene s;
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        t[i] = spawn(hammer, &s);
    for (int i = 0; i < 30; i++) {
        OK(pthread_mutex_lock(&s.mutex));
        int child = fork();
        if (child == 0) {
            unlock_and_use(&s, 1);
            _exit(0);
        }
        OK(pthread_mutex_unlock(&s.mutex));
        OK(child_status(child));
    }
    s.stop = true;
    for (int i = 0; i < 3; i++)
        join(t[i]);
}

/* ---- handlers, as an allocator has them */

enum { ARENAS = 194 };
static pthread_mutex_t arena[ARENAS];
static _Atomic(bool) arenas_in_use;
static bool reinitialises;

static void lock_arenas(void)
{
    if (arenas_in_use)
        for (int i = 0; i < ARENAS; i++)
            OK(pthread_mutex_lock(&arena[i]));
}

static void unlock_arenas(void)
{
    if (arenas_in_use)
        for (int i = 0; i < ARENAS; i++)
            OK(pthread_mutex_unlock(&arena[i]));
}

static void renew_arenas(void)
{
    if (!reinitialises) {
        unlock_arenas();
        return;
    }
    for (int i = 0; i < ARENAS; i++)
        OK(pthread_mutex_init(&arena[i], NULL));
}

static void *use_arenas(void *argument)
{
    scene *s = argument;
    for (unsigned i = 0; !s->stop; i = (i * 7 + 1) % ARENAS) {
        OK(pthread_mutex_lock(&arena[i]));
        s->entered++;
        OK(pthread_mutex_unlock(&arena[i]));
    }
    return NULL;
}

static void handlers_lock_194_mutexes_around_fork(void)
{
    static scene s;
    pthread_t t[3];
    OK(pthread_atfork(lock_arenas, unlock_arenas, renew_arenas));
    arenas_in_use = true;
    for (int i = 0; i < 3; i++)
        t[i] = spawn(use_arenas, &s);
    for (int i = 0; i < 30; i++) {
        reinitialises = i % 2 != 0;
        int child = fork();
        if (child == 0) {
            for (int k = 0; k < ARENAS; k++) {
                OK(pthread_mutex_lock(&arena[k]));
                CHECK_IS(pthread_mutex_trylock(&arena[k]), EBUSY);
                OK(pthread_mutex_unlock(&arena[k]));
            }
            _exit(0);
        }
        OK(child_status(child));
    }
    s.stop = true;
    for (int i = 0; i < 3; i++)
        join(t[i]);
}

/* early.c has registered its handlers before the library could. */
static void an_earlier_handler_may_unlock(void)
{
    for (int i = 0; i < 5; i++) {
        int child = fork();
        if (child == 0) {
            CHECK_IS(early_forks_prepared, i + 1);
            CHECK_IS(early_forks_seen, 1);
            _exit(0);
        }
        OK(child_status(child));
    }
}

static void an_earlier_handler_may_start_a_thread(void)
{
    early_start_threads();
    for (int i = 0; i < 5; i++) {
        int child = fork();
        if (child == 0) {
            early_end_thread();
            _exit(0);
        }
        OK(child_status(child));
    }
}

/* ---- without handlers */

static void a_child_of_the_bare_system_call_unlocks(void)
{
    for (int i = 0; i < 10; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        OK(pthread_mutex_lock(&s.mutex));
        pthread_t t = stand_in_line(&s);
        int child = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            OK(pthread_mutex_unlock(&s.mutex));
            OK(pthread_mutex_lock(&s.mutex));
            CHECK_IS(pthread_mutex_trylock(&s.mutex), EBUSY);
            OK(pthread_mutex_unlock(&s.mutex));
            OK(pthread_mutex_destroy(&s.mutex));
            _exit(0);
        }
        OK(child_status(child));
        OK(pthread_mutex_unlock(&s.mutex));
        join(t);
    }
}

/* ---- in a signal handler */

static volatile int forked;

static void fork_in_handler(int unused)
{
    (void)unused;
    forked = fork();
}

static void *hold_and_interrupt(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    while (!((volatile scene *)s)->waiting)
        pause_ms(1);
    await_asleep(getpid());
    OK(kill(getpid(), SIGUSR1)); /* for the thread that does not block it */
    while (!s->stop)
        pause_ms(1);
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void wait_until_late(pthread_mutex_t *m, bool on_a_condvar)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec later = in_ms(CLOCK_REALTIME, 40);
    if (!on_a_condvar) {
        CHECK_IS(pthread_mutex_timedlock(m, &later), ETIMEDOUT);
        return;
    }
    int result;
    OK(pthread_mutex_lock(&own));
    while ((result = pthread_cond_timedwait(&cond, &own, &later)) == 0)
        ;
    CHECK_IS(result, ETIMEDOUT);
    OK(pthread_mutex_unlock(&own));
}

/* Parent and child return from the handler, into the wait. */
static void a_child_of_a_handler_goes_on_waiting(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler};
    sigset_t all, before;
    sigfillset(&all);
    OK(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 6; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        forked = -1;
        OK(pthread_sigmask(SIG_BLOCK, &all, &before));
        pthread_t t = spawn(hold_and_interrupt, &s);
        OK(pthread_sigmask(SIG_SETMASK, &before, NULL));
        while (s.tid == 0)
            pause_ms(1);
        s.waiting = 1;
        while (forked < 0) /* it may be late before the other thread runs */
            wait_until_late(&s.mutex, i % 2 != 0);
        if (forked == 0) {
            wait_until_late(&s.mutex, true);
            _exit(0);
        }
        OK(child_status(forked));
        s.stop = true;
        join(t);
    }
}

/* ---- condition variables and spin locks */

static void *wait_for_go(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->waiting++;
    while (s->go == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    s->entered++;
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void start_waiting(scene *s, pthread_t *t, int count)
{
    for (int i = 0; i < count; i++)
        t[i] = spawn(wait_for_go, s);
    for (bool all = false; !all; pause_ms(1)) {
        OK(pthread_mutex_lock(&s->mutex));
        all = s->waiting == count;
        OK(pthread_mutex_unlock(&s->mutex));
    }
}

static void go(scene *s, pthread_t *t, int count)
{
    OK(pthread_mutex_lock(&s->mutex));
    s->go = 1;
    OK(pthread_cond_broadcast(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    for (int i = 0; i < count; i++)
        join(t[i]);
    CHECK_IS(s->entered, count);
}

/* glibc's counts those that wait in the parent. */
static void a_childs_condvar_forgets_the_parents_waiters(void)
{
    for (int i = 0; i < 5; i++) {
        static scene s;
        pthread_t t[3];
        memset(&s, 0, sizeof s);
        start_waiting(&s, t, 3);
        int child = fork();
        if (child == 0) {
            OK(pthread_cond_signal(&s.cond));
            OK(pthread_cond_broadcast(&s.cond));
            s.waiting = 0;
            start_waiting(&s, t, 2);
            go(&s, t, 2);
            OK(pthread_cond_destroy(&s.cond));
            _exit(0);
        }
        OK(child_status(child));
        go(&s, t, 3);
    }
}

static pthread_spinlock_t spin;

static void *spin_once(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_spin_lock(&spin));
    OK(pthread_spin_unlock(&spin));
    return NULL;
}

static void a_child_unlocks_a_spin_lock(void)
{
    static scene s;
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&spin));
    pthread_t t = spawn(spin_once, &s);
    while (s.tid == 0)
        pause_ms(1);
    pause_ms(2);
    int child = fork();
    if (child == 0) {
        OK(pthread_spin_unlock(&spin));
        join(spawn(spin_once, &s));
        OK(pthread_spin_lock(&spin));
        _exit(0);
    }
    OK(child_status(child));
    OK(pthread_spin_unlock(&spin));
    join(t);
}

const test_case fork_cases[] = {CASE(a_child_unlocks_what_it_held),
                                BEYOND(a_child_owns_recursive_and_checking_mutexes),
                                CASE(a_child_initialises_what_it_held),
                                CASE(a_childs_threads_wait_for_what_it_held),
                                CASE(a_child_waits_with_what_it_held),
                                BEYOND(a_child_waits_with_a_recursive_one_it_held),
                                CASE(a_childs_child_unlocks_what_it_held),
                                BEYOND(a_childs_child_owns_recursive_mutexes),
                                CASE(any_thread_may_fork),
                                CASE(what_another_thread_held_stays_locked),
                                CASE(a_fork_in_a_crowd_leaves_the_child_whole),
                                CASE(a_fork_under_the_lock_in_a_crowd),
                                CASE(handlers_lock_194_mutexes_around_fork),
                                CASE(an_earlier_handler_may_unlock),
                                CASE(an_earlier_handler_may_start_a_thread),
                                CASE(a_child_of_the_bare_system_call_unlocks),
                                CASE(a_child_of_a_handler_goes_on_waiting),
                                BEYOND(a_childs_condvar_forgets_the_parents_waiters),
                                CASE(a_child_unlocks_a_spin_lock),
                                {0}};
