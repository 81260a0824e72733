/* cases.c - programs for the debug mode to judge, with any lock */
#include "bare.h"
#include "cases.h"

#include "../../src/debug_stack.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline)) static

#define AS_LOCK(type)                                                                                        \
    static void type##_lock(void *l, lock_ctx *c)                                                            \
    {                                                                                                        \
        (void)c;                                                                                             \
        pawl_##type##_lock(l);                                                                               \
    }                                                                                                        \
    static bool type##_trylock(void *l, lock_ctx *c)                                                         \
    {                                                                                                        \
        (void)c;                                                                                             \
        return pawl_##type##_trylock(l);                                                                     \
    }                                                                                                        \
    static void type##_unlock(void *l, lock_ctx *c)                                                          \
    {                                                                                                        \
        (void)c;                                                                                             \
        pawl_##type##_unlock(l);                                                                             \
    }                                                                                                        \
    static void type##_destroy(void *l)                                                                      \
    {                                                                                                        \
        pawl_##type##_destroy(l);                                                                            \
    }                                                                                                        \
    const lock_info type##_as_lock = {.name = #type,                                                         \
                                      .oblivious = true,                                                     \
                                      .waiting = PAWL_SEMI_PRIVATE,                                          \
                                      .lock = type##_lock,                                                   \
                                      .trylock = type##_trylock,                                             \
                                      .unlock = type##_unlock,                                               \
                                      .destroy = type##_destroy};
AS_LOCK(mutex)
AS_LOCK(fairmutex)

enum { A, B, C, LOCKS };
static const lock_info *kind;
static lock_memory memory[LOCKS];
static lock_ctx context[LOCKS];

static void take(int i)
{
    kind->lock(&memory[i], &context[i]);
}

static void drop(int i)
{
    kind->unlock(&memory[i], &context[i]);
}

static void end(int i)
{
    if (kind->destroy != NULL)
        kind->destroy(&memory[i]);
    else
        pawl_destroy(&memory[i]);
}

static void in_thread(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

/* Different in each function: a compiler may make one function of two that are the same. */
#define END __asm__ volatile("# %0" : : "i"(__LINE__))

NAMED void takes_first(void)
{
    take(A);
    END;
}

NAMED void takes_again(void)
{
    take(A);
    END;
}

NAMED void unlocks_first(void)
{
    drop(A);
    END;
}

NAMED void unlocks_again(void)
{
    drop(A);
    END;
}

NAMED void *unlocks_elsewhere(void *unused)
{
    drop(A);
    END;
    return unused;
}

NAMED void destroys(void)
{
    end(A);
    END;
}

NAMED void takes_a_then_b(void)
{
    take(A);
    take(B);
    drop(B);
    drop(A);
}

NAMED void takes_b_then_a(void)
{
    take(B);
    take(A);
    drop(A);
    drop(B);
}

NAMED void takes_b_then_c(void)
{
    take(B);
    take(C);
    drop(C);
    drop(B);
}

NAMED void takes_c_then_a(void)
{
    take(C);
    take(A);
    drop(A);
    drop(C);
}

/* ---- errors */

static void self(void)
{
    takes_first();
    takes_again();
}

static void unlock(void)
{
    takes_first();
    unlocks_first();
    unlocks_again();
}

static void foreign(void)
{
    takes_first();
    in_thread(unlocks_elsewhere);
    take(A);
    drop(A);
}

static void inversion(void)
{
    takes_a_then_b();
    takes_b_then_a();
}

static void inversions(void)
{
    for (int i = 0; i < 3; i++)
        inversion();
}

static void three(void)
{
    takes_a_then_b();
    takes_b_then_c();
    takes_c_then_a();
}

static void destruction(void)
{
    takes_first();
    destroys();
}

/* ---- no errors */

static void *some_pairs(void *unused)
{
    for (int i = 0; i < 200; i++) {
        lock_ctx a, b;
        kind->lock(&memory[A], &a);
        kind->lock(&memory[B], &b);
        kind->unlock(&memory[A], &a); /* in whatever order */
        kind->unlock(&memory[B], &b);
    }
    return unused;
}

static void correct(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, some_pairs, NULL) != 0)
            abort();
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    takes_a_then_b();
    takes_b_then_c();
    end(A);
}

/* An attempt that gives up does not wait for anybody. */
static void trylock(void)
{
    takes_a_then_b();
    take(B);
    if (kind->trylock(&memory[A], &context[A]))
        drop(A);
    drop(B);
    take(A);
    if (kind->trylock(&memory[A], &context[B]))
        abort();
    drop(A);
}

/* The memory becomes another lock's, which has an order of its own. */
static void reuse(void)
{
    takes_a_then_b();
    end(A);
    end(B);
    memset(memory, 0, sizeof memory);
    takes_b_then_a();
}

static void *leaves_it_locked(void *unused)
{
    take(A);
    return unused;
}

static void thread_exit(void)
{
    if (kind->oblivious) {
        in_thread(leaves_it_locked);
        drop(A);
    }
    for (int i = 0; i < 10; i++)
        in_thread(some_pairs);
}

/* ---- pawl_mutex only */

static pawl_mutex m, n;
static pawl_cond condition;
static bool ready;

static void *signals(void *unused)
{
    pawl_mutex_lock(&m);
    ready = true;
    pawl_cond_signal(&condition);
    pawl_mutex_unlock(&m);
    return unused;
}

static void conditions(void)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pawl_mutex_lock(&m);
        ready = false;
        if (pthread_create(&thread, NULL, signals, NULL) != 0)
            abort();
        while (!ready)
            pawl_cond_wait(&condition, &m);
        pawl_mutex_unlock(&m);
        pthread_join(thread, NULL);
        pawl_mutex_lock(&m);
        struct timespec past = {.tv_sec = 1};
        pawl_cond_timedwait(&condition, &m, &past);
        pawl_mutex_unlock(&m);
    }
}

NAMED void waits_with_both(void)
{
    struct timespec past = {.tv_sec = 1};
    pawl_mutex_lock(&m);
    pawl_mutex_lock(&n);
    pawl_cond_timedwait(&condition, &m, &past);
    pawl_mutex_unlock(&n);
    pawl_mutex_unlock(&m);
}

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

/* While another thread is busy in the debug mode. The child has mutexes of its own. */
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

/* ---- through the library, as other languages do */

NAMED void calls_a_then_b(void)
{
    pawl_mutex_lock_call(&m);
    pawl_mutex_lock_call(&n);
    pawl_mutex_unlock_call(&n);
    pawl_mutex_unlock_call(&m);
}

NAMED void calls_b_then_a(void)
{
    pawl_mutex_lock_call(&n);
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_unlock_call(&n);
}

static void calls(void)
{
    calls_a_then_b();
    calls_b_then_a();
}

static void *unlocks_m_by_call(void *unused)
{
    pawl_mutex_unlock_call(&m);
    return unused;
}

static void calls_mixed(void)
{
    pawl_mutex_lock_call(&m);
    in_thread(unlocks_m_by_call);
    bare_lock(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_lock_call(&m);
    bare_unlock(&m);
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    if (!pawl_mutex_trylock_call(&m))
        abort();
    pawl_mutex_unlock_call(&m);
    pawl_mutex_lock_call(&n); /* after m, not inside it */
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_unlock_call(&n);
}

static void try_call_then_again(void)
{
    if (pawl_mutex_trylock_call(&m))
        pawl_mutex_lock_call(&m);
}

static void call_waits(void)
{
    struct timespec past = {.tv_sec = 1};
    for (int i = 0; i < 3; i++) {
        pawl_mutex_lock_call(&m);
        if (pawl_mutex_trylock_call(&m))
            abort();
        bare_timedwait(&condition, &m, &past);
        pawl_mutex_unlock_call(&m);
    }
}

/* Locked by code that was not compiled for the debug mode, unlocked by code that was, and the other way. */
static void mixed(void)
{
    for (int i = 0; i < 2; i++) {
        bare_lock(&m);
        pawl_mutex_unlock(&m);
        pawl_mutex_lock(&m);
        bare_unlock(&m);
    }
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
    pawl_mutex_destroy(&m);
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

/* Nobody told that it was unlocked, but another thread has it next. */
static void mixed_threads(void)
{
    pawl_mutex_lock(&m);
    bare_unlock(&m);
    in_thread(signals);
    pawl_mutex_lock(&n);
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
    pawl_mutex_unlock(&n);
}

NAMED void locks_after_waiting(void)
{
    pawl_mutex_lock_call(&m);
    END;
}

static void bare_wait_then_again(void)
{
    struct timespec past = {.tv_sec = 1};
    pawl_mutex_lock_call(&m);
    bare_timedwait(&condition, &m, &past);
    locks_after_waiting();
}

static void *waits_for_ever(void *unused)
{
    pawl_mutex_lock_call(&m);
    bare_timedwait(&condition, &m, &(struct timespec){.tv_sec = INT32_MAX});
    return unused;
}

static void bare_wait_then_foreign(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, waits_for_ever, NULL) != 0)
        abort();
    while (atomic_load(&condition.waiters) == 0 || atomic_load(&m.held) != 0)
        sched_yield();
    pawl_mutex_lock(&n);
    pawl_mutex_unlock_call(&m);
}

NAMED void destroys_m(void)
{
    pawl_mutex_destroy(&m);
    END;
}

static void bare_destruction(void)
{
    bare_lock(&m);
    destroys_m();
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

static int next_file(void)
{
    int file = dup(STDIN_FILENO);
    close(file);
    return file;
}

/* Where standard error is closed, a report fails to be written. */
static void keeps_errno(void)
{
    takes_a_then_b();
    close(STDERR_FILENO);
    int file = next_file();
    errno = 77;
    takes_b_then_a();
    end(A);
    if (errno != 77 || next_file() != file)
        _exit(1);
}

static void destroys_then_inverts(void)
{
    take(C);
    drop(C);
    end(C);
    inversion();
}

/* ---- threads and locks that come and go */

static void *own_pairs(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        pawl_mutex a = {0}, b = {0};
        pawl_mutex_lock(&a);
        pawl_mutex_lock(&b);
        pawl_mutex_unlock(&a);
        pawl_mutex_unlock(&b);
        pawl_mutex_destroy(&a);
        pawl_mutex_destroy(&b);
    }
    return unused;
}

static void threads_of_their_own(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, own_pairs, NULL) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Others every time. */
static void *lock_some(void *unused)
{
    static pawl_mutex many[101 * 100];
    static int used;
    for (int end = used + 100; used < end; used++) {
        pawl_mutex_lock(&many[used]);
        pawl_mutex_unlock(&many[used]);
    }
    return unused;
}

/* What the debug mode takes from the system lies between two requests for it. */
static void little_memory(void)
{
    in_thread(lock_some);
    char *before = pawl_debug_memory(16);
    for (int i = 0; i < 100; i++)
        in_thread(lock_some);
    ptrdiff_t taken = (char *)pawl_debug_memory(16) - before;
    if (taken <= 0 || taken > 4096)
        fprintf(stderr, "%td bytes\n", taken);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"self", self},
    {"unlock", unlock},
    {"foreign", foreign},
    {"inversion", inversion},
    {"inversions", inversions},
    {"three", three},
    {"destruction", destruction},
    {"correct", correct},
    {"trylock", trylock},
    {"reuse", reuse},
    {"exit", thread_exit},
    {"conditions", conditions},
    {"backwards", waits_with_both},
    {"forks", forks},
    {"forks_with_handlers", forks_with_handlers},
    {"abort_forks", abort_forks},
    {"calls", calls},
    {"call_waits", call_waits},
    {"calls_mixed", calls_mixed},
    {"try_call_then_again", try_call_then_again},
    {"mixed", mixed},
    {"shared", shared},
    {"shared_in_turn", shared_in_turn},
    {"bare_wait_then_again", bare_wait_then_again},
    {"bare_wait_then_foreign", bare_wait_then_foreign},
    {"bare_destruction", bare_destruction},
    {"fork_inverts", fork_inverts},
    {"keeps_errno", keeps_errno},
    {"destroys_then_inverts", destroys_then_inverts},
    {"threads_of_their_own", threads_of_their_own},
    {"little_memory", little_memory},
    {"mixed_threads", mixed_threads},
};

int run_case(const char *name, const char *lock)
{
    kind = strcmp(lock, "mutex") == 0       ? &mutex_as_lock
           : strcmp(lock, "fairmutex") == 0 ? &fairmutex_as_lock
                                            : lock_find(lock);
    for (size_t i = 0; kind != NULL && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
