/* process_cases.c - programs for debug mode to judge, which fork or share a lock with another process */
#include "steps.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pawl_mutex m, n;
static _Atomic(bool) stop;

static void *until_stopped(void *unused)
{
    while (!atomic_load(&stop)) {
        pawl_mutex_lock(&m);
        pawl_mutex_lock(&n);
        pawl_mutex_unlock(&n);
        pawl_mutex_unlock(&m);
    }
    return unused;
}

/* Forks while another thread is busy in debug mode. The child has mutexes of its own. */
static void forks(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, until_stopped, NULL) != 0)
        abort();
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            takes_a_then_b();
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            abort();
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static void hold_m(void)
{
    pawl_mutex_lock(&m);
}

static void drop_m(void)
{
    pawl_mutex_unlock(&m);
}

/* The handlers come before the first lock, and so before those of the debug mode. */
static void forks_with_handlers(void)
{
    int status;
    if (pthread_atfork(hold_m, drop_m, drop_m) != 0)
        abort();
    takes_a_then_b();
    pid_t child = fork();
    takes_a_then_b();
    hold_m();
    drop_m();
    if (child == 0)
        _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void fork_and_exit(int unused)
{
    (void)unused;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    _exit(waitpid(child, NULL, 0) == child ? 0 : 1);
}

/* As those do that save what is known of a crash. */
static void abort_forks(void)
{
    signal(SIGABRT, fork_and_exit);
    drop_m();
}

static void fork_inverts(void)
{
    int status;
    in_thread(some_pairs); /* not only this thread has used locks */
    takes_a_then_b();
    pid_t child = fork();
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0))
        abort();
    takes_b_then_a();
    if (child == 0)
        _exit(0);
}

/* ---- locks that processes share */

static lock_memory *share(void)
{
    lock_memory *l = mmap(NULL, 2 * sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l == MAP_FAILED)
        abort();
    return l;
}

NAMED void takes_shared(lock_memory *l)
{
    kind->lock(l, &context[A]);
    kind->unlock(l, &context[A]);
    END;
}

/* Ends as the child does. */
static void takes_shared_in_child(lock_memory *l)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        takes_shared(l);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || WIFSIGNALED(status))
        abort();
}

static void shared(void)
{
    lock_memory *l = share();
    takes_shared(l);
    takes_shared_in_child(l);
}

/* One after the other, and two that are neighbours: no two processes with the same lock at a time. */
static void shared_in_turn(void)
{
    lock_memory *l = share();
    takes_shared_in_child(&l[1]);
    takes_shared_in_child(&l[1]);
    takes_shared(&l[0]);
    takes_shared_in_child(&l[1]);
    takes_shared(&l[1]);
    takes_first();
    unlocks_first();
    takes_shared_in_child(&memory[A]);
}

const debug_case process_cases[] = {
    {"forks", forks},
    {"forks_with_handlers", forks_with_handlers},
    {"abort_forks", abort_forks},
    {"shared", shared},
    {"shared_in_turn", shared_in_turn},
    {"fork_inverts", fork_inverts},
    {0},
};
