/* fork_held.c - a child and the mutexes that were held, by the thread that forked or by another */
#include "fork.h"

#include <signal.h>
#include <sys/syscall.h>

static void *wait_in_line(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->mutex));
    s->entered++;
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

pthread_t stand_in_line(scene *s)
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

void use_it_all(scene *s)
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

void unlock_and_use(scene *s, int depth)
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

/* With glibc any thread may unlock a normal mutex, and a child's may, too. */
static void a_child_unlocks_what_another_thread_held(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    bool oblivious = lock_name() == NULL || strncmp(lock_name(), "hemlock", 7) != 0;
    for (int i = 0; i < 3; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        make_mutex(&s.mutex, types[i]);
        pthread_t t = spawn(hold_it, &s);
        while (s.tid == 0)
            pause_ms(1);
        int child = fork();
        if (child == 0) {
            int result = pthread_mutex_unlock(&s.mutex);
            if (i > 0)
                CHECK_IS(result, EPERM);
            else if (oblivious)
                unlock_and_use(&s, 0);
            _exit(0);
        }
        OK(child_status(child));
        s.stop = true;
        join(t);
        OK(try_elsewhere(&s.mutex));
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

const test_case fork_held_cases[] = {CASE(a_child_unlocks_what_it_held),
                                     BEYOND(a_child_owns_recursive_and_checking_mutexes),
                                     CASE(a_child_initialises_what_it_held),
                                     CASE(a_childs_threads_wait_for_what_it_held),
                                     CASE(a_child_waits_with_what_it_held),
                                     BEYOND(a_child_waits_with_a_recursive_one_it_held),
                                     CASE(a_childs_child_unlocks_what_it_held),
                                     BEYOND(a_childs_child_owns_recursive_mutexes),
                                     CASE(any_thread_may_fork),
                                     CASE(what_another_thread_held_stays_locked),
                                     CASE(a_child_unlocks_what_another_thread_held),
                                     CASE(a_child_of_the_bare_system_call_unlocks),
                                     {0}};
