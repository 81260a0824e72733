/* kind.c - normal, recursive, error-checking, adaptive: who may lock and unlock, and what is said otherwise */
#include "case.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

static const int all_types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_DEFAULT};
enum { TYPES = sizeof all_types / sizeof all_types[0] };

static void each_type_excludes_others(void)
{
    for (int i = 0; i < TYPES; i++) {
        pthread_mutex_t m;
        make_mutex(&m, all_types[i]);
        OK(try_elsewhere(&m));
        OK(pthread_mutex_lock(&m));
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        OK(pthread_mutex_trylock(&m));
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        OK(try_elsewhere(&m));
        OK(pthread_mutex_destroy(&m));
    }
}

/* ---- error-checking */

static void *unlock_elsewhere(void *mutex)
{
    return (void *)(intptr_t)pthread_mutex_unlock(mutex);
}

static int unlock_by_another(pthread_mutex_t *m)
{
    void *result;
    OK(pthread_join(spawn(unlock_elsewhere, m), &result));
    return (int)(intptr_t)result;
}

static void errorcheck_says_what_is_wrong(void)
{
    pthread_mutex_t m;
    make_mutex(&m, PTHREAD_MUTEX_ERRORCHECK);
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    OK(pthread_mutex_lock(&m));
    CHECK_IS(pthread_mutex_lock(&m), EDEADLK);
    CHECK_IS(pthread_mutex_trylock(&m), EBUSY);
    struct timespec soon = in_ms(CLOCK_REALTIME, 60000);
    CHECK_IS(pthread_mutex_timedlock(&m, &soon), EDEADLK);
    CHECK_IS(unlock_by_another(&m), EPERM);
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    OK(pthread_mutex_destroy(&m));
}

/* ---- recursive */

static void recursive_counts(void)
{
    enum { DEPTH = 70000 }; /* more than sixteen bits */
    pthread_mutex_t m;
    make_mutex(&m, PTHREAD_MUTEX_RECURSIVE);
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    struct timespec soon = in_ms(CLOCK_REALTIME, 60000);
    for (int i = 0; i < DEPTH; i++)
        OK(i % 3 == 0   ? pthread_mutex_lock(&m)
           : i % 3 == 1 ? pthread_mutex_trylock(&m)
                        : pthread_mutex_timedlock(&m, &soon));
    CHECK_IS(unlock_by_another(&m), EPERM);
    for (int i = 0; i < DEPTH - 1; i++)
        OK(pthread_mutex_unlock(&m));
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    OK(try_elsewhere(&m));
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    CHECK_IS(unlock_by_another(&m), EPERM); /* by one that has never locked */
    OK(try_elsewhere(&m));
    OK(pthread_mutex_destroy(&m));
}

/* glibc's counter has 32 bits. Ours has fewer, and says so before it wraps. */
static void recursive_says_when_it_cannot_count_further(void)
{
    pthread_mutex_t m;
    make_mutex(&m, PTHREAD_MUTEX_RECURSIVE);
    long depth = 0;
    int error;
    while ((error = pthread_mutex_lock(&m)) == 0)
        depth++;
    CHECK_IS(error, EAGAIN);
    CHECK(depth >= 1 << 20);
    CHECK_IS(pthread_mutex_trylock(&m), EAGAIN);
    while (depth-- > 1)
        OK(pthread_mutex_unlock(&m));
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    OK(try_elsewhere(&m));
}

static void *lock_again_and_again(void *argument)
{
    void **both = argument;
    for (int i = 0; i < 500; i++) {
        for (int k = 0; k < 3; k++)
            OK(pthread_mutex_lock(both[0]));
        ++*(int *)both[1];
        for (int k = 0; k < 3; k++)
            OK(pthread_mutex_unlock(both[0]));
    }
    return NULL;
}

static void recursive_excludes_under_contention(void)
{
    pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    int count = 0;
    void *both[] = {&m, &count};
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(lock_again_and_again, both);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    CHECK_IS(count, 4 * 500);
}

/* ---- normal */

static _Atomic(int) stuck_tid;

static void *lock_twice(void *mutex)
{
    OK(pthread_mutex_lock(mutex));
    stuck_tid = own_tid();
    pthread_mutex_lock(mutex); /* for ever */
    _exit(3);
}

static void locking_a_normal_mutex_twice_deadlocks(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    spawn(lock_twice, &m);
    while (stuck_tid == 0)
        pause_ms(1);
    await_asleep(stuck_tid);
    CHECK_IS(pthread_mutex_trylock(&m), EBUSY);
    CHECK_IS(pthread_mutex_destroy(&m), EBUSY);
}

static void *lock_and_end(void *mutex)
{
    OK(pthread_mutex_lock(mutex));
    return NULL;
}

/* POSIX leaves it open; glibc does it, and programs rely on it. Hemlock's owners must unlock themselves: it refuses. */
static void a_normal_mutex_may_be_unlocked_by_another(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    bool refuses = lock_name() != NULL && strncmp(lock_name(), "hemlock", 7) == 0;
    OK(pthread_mutex_lock(&m));
    if (refuses) {
        CHECK_IS(unlock_by_another(&m), EPERM);
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        return;
    }
    for (int i = 0; i < 50; i++) {
        OK(unlock_by_another(&m));
        OK(pthread_mutex_lock(&m));
    }
    OK(pthread_mutex_unlock(&m));
    for (int i = 0; i < 50; i++) {
        join(spawn(lock_and_end, &m));
        OK(pthread_mutex_unlock(&m));
    }
}

typedef struct queue {
    pthread_mutex_t mutex;
    _Atomic(int) tid;
} queue;

static void *wait_in_turn(void *argument)
{
    queue *q = argument;
    q->tid = own_tid();
    OK(pthread_mutex_lock(&q->mutex));
    OK(pthread_mutex_unlock(&q->mutex));
    return NULL;
}

/* A new thread gets the thread-local memory of one that has ended: here, of the owner. */
static void new_threads_wait_behind_an_owner_that_has_ended(void)
{
    if (lock_name() != NULL && strncmp(lock_name(), "hemlock", 7) == 0)
        skip("hemlock: only the owner may unlock");
    enum { WAITERS = 3 };
    for (int i = 0; i < 3 * WAITERS; i++) {
        queue q = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        pthread_t t[WAITERS];
        join(spawn(lock_and_end, &q.mutex));
        for (int k = 0; k <= i % WAITERS; k++) {
            q.tid = 0;
            t[k] = spawn(wait_in_turn, &q);
            while (q.tid == 0)
                pause_ms(1);
            await_asleep(q.tid);
        }
        OK(pthread_mutex_unlock(&q.mutex));
        for (int k = 0; k <= i % WAITERS; k++)
            join(t[k]);
        OK(try_elsewhere(&q.mutex));
    }
}

/* As a binary semaphore: the thread that locked it waits for it. */
static void *release_later(void *mutex)
{
    for (int i = 0; i < 3; i++) {
        pause_ms(3);
        OK(pthread_mutex_unlock(mutex));
        while (((volatile pthread_mutex_t *)mutex)->__data.__owner == 0)
            pause_ms(1);
    }
    return NULL;
}

static void a_normal_mutex_is_a_binary_semaphore(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    if (lock_name() != NULL && strncmp(lock_name(), "hemlock", 7) == 0)
        skip("hemlock: only the owner may unlock");
    OK(pthread_mutex_lock(&m));
    pthread_t other = spawn(release_later, &m);
    for (int i = 0; i < 3; i++)
        OK(pthread_mutex_lock(&m));
    join(other);
    OK(pthread_mutex_unlock(&m));
}

/* An error in a program that glibc lets pass. */
static void an_unlock_too_many_does_no_harm(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    bool refuses = lock_name() != NULL && strncmp(lock_name(), "hemlock", 7) == 0;
    for (int i = 0; i < 3; i++) {
        int result = pthread_mutex_unlock(&m);
        CHECK(result == 0 || (refuses && result == EPERM));
        OK(pthread_mutex_lock(&m));
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        OK(try_elsewhere(&m));
        result = unlock_by_another(&m); /* by one that has never locked */
        CHECK(result == 0 || (refuses && result == EPERM));
        OK(try_elsewhere(&m));
    }
}

/* ---- the end */

static void destroy_says_if_it_is_locked(void)
{
    for (int i = 0; i < TYPES; i++) {
        pthread_mutex_t m;
        make_mutex(&m, all_types[i]);
        OK(pthread_mutex_lock(&m));
        CHECK_IS(pthread_mutex_destroy(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        OK(pthread_mutex_destroy(&m));
    }
}

/* The thread that destroys the mutex has just held it, while others may still be on their way out of it. */
static void *pass_through(void *mutex)
{
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void destroy_never_says_so_without_cause(void)
{
    for (int i = 0; i < 150; i++) {
        pthread_mutex_t m;
        make_mutex(&m, all_types[i % TYPES]);
        pthread_t a = spawn(pass_through, &m), b = spawn(pass_through, &m);
        pass_through(&m);
        join(a);
        join(b);
        OK(pthread_mutex_destroy(&m));
    }
}

static void a_destroyed_mutex_is_none(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    OK(pthread_mutex_destroy(&m));
    CHECK_IS(pthread_mutex_lock(&m), EINVAL);
    CHECK_IS(pthread_mutex_trylock(&m), EINVAL);
    OK(pthread_mutex_init(&m, NULL));
    OK(try_elsewhere(&m));
}

/* Before there is a second thread, too. */
static void a_process_with_one_thread_deadlocks_with_itself(void)
{
    int child = fork();
    if (child == 0) {
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        OK(pthread_mutex_lock(&m));
        CHECK_IS(pthread_mutex_trylock(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
        CHECK_IS(m.__data.__owner, 0);
        OK(pthread_mutex_lock(&m));
        pthread_mutex_lock(&m);
        _exit(0);
    }
    for (int i = 0; i < 50; i++, pause_ms(1))
        CHECK_IS(waitpid(child, NULL, WNOHANG), 0);
    OK(kill(child, SIGKILL));
    CHECK_IS(child_status(child), 256 + SIGKILL);
}

const test_case kind_cases[] = {CASE(each_type_excludes_others),
                                CASE(errorcheck_says_what_is_wrong),
                                CASE(recursive_counts),
                                BEYOND(recursive_says_when_it_cannot_count_further),
                                CASE(recursive_excludes_under_contention),
                                CASE(locking_a_normal_mutex_twice_deadlocks),
                                CASE(a_process_with_one_thread_deadlocks_with_itself),
                                CASE(a_normal_mutex_may_be_unlocked_by_another),
                                CASE(new_threads_wait_behind_an_owner_that_has_ended),
                                CASE(a_normal_mutex_is_a_binary_semaphore),
                                CASE(an_unlock_too_many_does_no_harm),
                                {.name = "an_unlock_too_many_does_no_harm_to_statistics",
                                 .run = an_unlock_too_many_does_no_harm,
                                 .environment = "PAWL_STATS=/dev/null"},
                                CASE(destroy_says_if_it_is_locked),
                                CASE(destroy_never_says_so_without_cause),
                                CASE(a_destroyed_mutex_is_none),
                                {0}};
