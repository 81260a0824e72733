/* fork_crowd.c - forking while other threads lock, wait and fork; none of them exists in the child */
#include "fork.h"

/* ---- in a crowd */

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

/* Each of them is alone in its child, with its own mutex and the one they share. */
static void *fork_in_turns(void *argument)
{
    scene *shared = argument, own;
    memset(&own, 0, sizeof own);
    for (int i = 0; i < 6; i++) {
        OK(pthread_mutex_lock(&own.mutex));
        if (i % 2)
            OK(pthread_mutex_lock(&shared->mutex));
        int child = fork();
        if (i % 2)
            OK(pthread_mutex_unlock(&shared->mutex));
        OK(pthread_mutex_unlock(&own.mutex));
        if (child == 0) {
            CHECK_IS(getpid(), own_tid());
            OK(try_elsewhere(&own.mutex));
            if (i % 2)
                OK(try_elsewhere(&shared->mutex));
            _exit(0);
        }
        OK(child_status(child));
    }
    return NULL;
}

static void many_threads_fork_at_once(void)
{
    static scene s;
    pthread_t t[6];
    for (int i = 0; i < 6; i++)
        t[i] = spawn(fork_in_turns, &s);
    for (int i = 0; i < 6; i++)
        join(t[i]);
    OK(try_elsewhere(&s.mutex));
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

const test_case fork_crowd_cases[] = {CASE(a_fork_in_a_crowd_leaves_the_child_whole),
                                      CASE(a_fork_under_the_lock_in_a_crowd),
                                      CASE(many_threads_fork_at_once),
                                      BEYOND(a_childs_condvar_forgets_the_parents_waiters),
                                      CASE(a_child_unlocks_a_spin_lock),
                                      {0}};
