/* forwarded.c - robust, priority and process-shared objects are glibc's, untouched */
#include "case.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

typedef struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_spinlock_t spin;
    int count, ready;
} shared;

static shared *map_shared(int file)
{
    int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, flags, file, 0);
    CHECK(s != MAP_FAILED);
    return s;
}

static void share(shared *s, bool robust, int type)
{
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_settype(&m, type);
    if (robust)
        pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST);
    OK(pthread_mutex_init(&s->mutex, &m));
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    OK(pthread_cond_init(&s->cond, &c));
    OK(pthread_spin_init(&s->spin, PTHREAD_PROCESS_SHARED));
}

enum { TURNS = 2000 };

static void count_up(shared *s)
{
    for (int i = 0; i < TURNS; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        s->count++;
        OK(pthread_mutex_unlock(&s->mutex));
        OK(pthread_spin_lock(&s->spin));
        s->ready++;
        OK(pthread_spin_unlock(&s->spin));
    }
}

static void shared_objects_work_between_processes(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 3; i++) {
        shared *s = map_shared(-1);
        share(s, false, types[i]);
        int child = fork();
        count_up(s);
        if (child == 0)
            _exit(0);
        OK(child_status(child));
        CHECK_IS(s->count, 2 * TURNS);
        CHECK_IS(s->ready, 2 * TURNS);
        OK(pthread_mutex_destroy(&s->mutex));
        OK(pthread_spin_destroy(&s->spin));
    }
}

/* The first that the library sees of glibc's locks is a trylock, or a destruction. */
static void shared_objects_may_be_tried_first(void)
{
    shared *s = map_shared(-1);
    share(s, false, PTHREAD_MUTEX_NORMAL);
    pthread_spinlock_t unlocked = s->spin;
    OK(pthread_spin_trylock(&s->spin));
    OK(pthread_spin_unlock(&s->spin));
    CHECK_IS(s->spin, unlocked);
    OK(pthread_mutex_trylock(&s->mutex));
    CHECK_IS(pthread_mutex_destroy(&s->mutex), EBUSY);
    OK(pthread_mutex_unlock(&s->mutex));
    OK(pthread_mutex_destroy(&s->mutex));
}

static void a_shared_condvar_wakes_another_process(void)
{
    shared *s = map_shared(-1);
    share(s, false, PTHREAD_MUTEX_NORMAL);
    int child = fork();
    OK(pthread_mutex_lock(&s->mutex));
    if (child == 0) {
        s->ready = 1;
        OK(pthread_cond_broadcast(&s->cond));
        while (s->ready == 1)
            OK(pthread_cond_wait(&s->cond, &s->mutex));
        OK(pthread_mutex_unlock(&s->mutex));
        _exit(0);
    }
    while (s->ready == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    s->ready = 2;
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    OK(child_status(child));
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    OK(pthread_mutex_lock(&s->mutex));
    CHECK_IS(pthread_cond_timedwait(&s->cond, &s->mutex, &soon), ETIMEDOUT);
    OK(pthread_mutex_unlock(&s->mutex));
    OK(pthread_cond_destroy(&s->cond));
}

/* The other process has glibc's locks: it runs without the library. */
#define STRANGER_FILE "PAWL_TEST_SHARED_FD"

void be_the_stranger(void)
{
    shared *s = map_shared(atoi(getenv(STRANGER_FILE)));
    CHECK(lock_name() == NULL);
    OK(pthread_mutex_lock(&s->mutex));
    s->ready = 1;
    OK(pthread_cond_broadcast(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    for (int i = 0; i < TURNS; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        s->count++;
        OK(pthread_mutex_unlock(&s->mutex));
        OK(pthread_spin_lock(&s->spin));
        s->count++;
        OK(pthread_spin_unlock(&s->spin));
    }
    OK(pthread_mutex_lock(&s->mutex));
    while (s->ready == 1)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    /* dies with it */
}

static void a_process_without_the_library_shares_them(void)
{
    int file = memfd_create("shared", 0);
    CHECK(file >= 0 && ftruncate(file, sizeof(shared)) == 0);
    shared *s = map_shared(file);
    share(s, true, PTHREAD_MUTEX_NORMAL);
    char number[16];
    snprintf(number, sizeof number, "%d", file);
    int child = fork();
    if (child == 0) {
        setenv(STRANGER_FILE, number, 1);
        unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "conform", "--case", "(stranger)", (char *)NULL);
        _exit(127);
    }
    OK(pthread_mutex_lock(&s->mutex));
    while (s->ready == 0)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    s->ready = 2;
    OK(pthread_cond_signal(&s->cond));
    OK(pthread_mutex_unlock(&s->mutex));
    OK(child_status(child));
    CHECK_IS(s->count, 2 * TURNS);
    CHECK_IS(pthread_mutex_lock(&s->mutex), EOWNERDEAD);
    OK(pthread_mutex_consistent(&s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
}

/* ---- robust */

static void *lock_and_die(void *mutex)
{
    OK(pthread_mutex_lock(mutex));
    return NULL;
}

static void make_robust(pthread_mutex_t *m, int type)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    OK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutex_init(m, &a));
}

static void a_robust_mutex_tells_of_a_dead_owner(void)
{
    pthread_mutex_t m;
    make_robust(&m, PTHREAD_MUTEX_ERRORCHECK);
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    join(spawn(lock_and_die, &m));
    CHECK_IS(pthread_mutex_lock(&m), EOWNERDEAD);
    OK(pthread_mutex_consistent(&m));
    CHECK_IS(pthread_mutex_lock(&m), EDEADLK);
    OK(pthread_mutex_unlock(&m));
    join(spawn(lock_and_die, &m));
    CHECK_IS(pthread_mutex_trylock(&m), EOWNERDEAD);
    OK(pthread_mutex_unlock(&m));
    CHECK_IS(pthread_mutex_lock(&m), ENOTRECOVERABLE);
    OK(pthread_mutex_destroy(&m));
}

static void a_robust_mutex_survives_a_killed_process(void)
{
    shared *s = map_shared(-1);
    share(s, true, PTHREAD_MUTEX_NORMAL);
    int child = fork();
    if (child == 0) {
        OK(pthread_mutex_lock(&s->mutex));
        s->ready = 1;
        pause();
    }
    while (((volatile shared *)s)->ready == 0)
        pause_ms(1);
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    CHECK_IS(pthread_mutex_timedlock(&s->mutex, &soon), ETIMEDOUT);
    CHECK_IS(pthread_mutex_clocklock(&s->mutex, CLOCK_REALTIME, &soon), ETIMEDOUT);
    kill(child, SIGKILL);
    CHECK_IS(child_status(child), 256 + SIGKILL);
    CHECK_IS(pthread_mutex_lock(&s->mutex), EOWNERDEAD);
    OK(pthread_mutex_consistent(&s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    count_up(s);
}

/* ---- priorities */

static void priority_inheritance_is_glibcs(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    pthread_mutexattr_init(&a);
    OK(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));
    int error = pthread_mutex_init(&m, &a);
    if (error == ENOTSUP)
        skip("no priority inheritance here");
    OK(error);
    OK(pthread_mutex_lock(&m));
    CHECK_IS(m.__data.__lock & 0x3fffffff, own_tid()); /* which is how glibc holds one */
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    OK(try_elsewhere(&m));
    OK(pthread_mutex_destroy(&m));
}

static void priority_protection_is_glibcs(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    int ceiling, old;
    pthread_mutexattr_init(&a);
    OK(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT));
    OK(pthread_mutexattr_setprioceiling(&a, 10));
    OK(pthread_mutex_init(&m, &a));
    OK(pthread_mutex_getprioceiling(&m, &ceiling));
    CHECK_IS(ceiling, 10);
    struct sched_param low = {.sched_priority = 1};
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &low) != 0)
        skip("may not raise its priority");
    OK(pthread_mutex_lock(&m));
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_setprioceiling(&m, 20, &old));
    CHECK_IS(old, 10);
    OK(pthread_mutex_destroy(&m));
}

static void priority_functions_refuse_other_mutexes(void)
{
    pthread_mutex_t both;
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT));
    CHECK_IS(pthread_mutex_init(&both, &a), ENOTSUP);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int ceiling;
    CHECK_IS(pthread_mutex_getprioceiling(&m, &ceiling), EINVAL);
    CHECK_IS(pthread_mutex_setprioceiling(&m, 10, &ceiling), EINVAL);
    CHECK_IS(pthread_mutex_consistent(&m), EINVAL);
    OK(try_elsewhere(&m));
}

/* ---- glibc's mutex with our condition variable */

typedef struct pair {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int ready;
} pair;

static void *signal_the_pair(void *argument)
{
    pair *p = argument;
    OK(pthread_mutex_lock(&p->mutex));
    p->ready = 1;
    OK(pthread_cond_signal(&p->cond));
    OK(pthread_mutex_unlock(&p->mutex));
    return NULL;
}

static void wait_for_the_pair(pair *p)
{
    p->ready = 0;
    OK(pthread_mutex_lock(&p->mutex));
    pthread_t other = spawn(signal_the_pair, p);
    while (p->ready == 0)
        OK(pthread_cond_wait(&p->cond, &p->mutex));
    struct timespec soon = in_ms(CLOCK_REALTIME, 3);
    int result;
    while ((result = pthread_cond_timedwait(&p->cond, &p->mutex, &soon)) == 0)
        ;
    CHECK_IS(result, ETIMEDOUT);
    OK(pthread_mutex_unlock(&p->mutex));
    join(other);
}

static void a_private_condvar_waits_with_glibcs_mutexes(void)
{
    pair p = {.cond = PTHREAD_COND_INITIALIZER};
    make_robust(&p.mutex, PTHREAD_MUTEX_NORMAL);
    wait_for_the_pair(&p);
    make_robust(&p.mutex, PTHREAD_MUTEX_ERRORCHECK);
    wait_for_the_pair(&p);
    CHECK_IS(pthread_cond_wait(&p.cond, &p.mutex), EPERM);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    OK(pthread_mutex_init(&p.mutex, &a));
    wait_for_the_pair(&p);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(&p.mutex, &a) == 0)
        wait_for_the_pair(&p);
}

static void a_shared_condvar_waits_with_a_private_mutex(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 3; i++) {
        pair p;
        pthread_condattr_t a;
        pthread_condattr_init(&a);
        pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
        OK(pthread_cond_init(&p.cond, &a));
        make_mutex(&p.mutex, types[i]);
        wait_for_the_pair(&p);
        OK(pthread_cond_destroy(&p.cond));
        OK(pthread_mutex_destroy(&p.mutex));
    }
}

/* ---- what is not ours */

static void *read_it(void *lock)
{
    return (void *)(intptr_t)pthread_rwlock_tryrdlock(lock);
}

static void rwlocks_and_barriers_work_beside(void)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    pthread_barrier_t b;
    void *result;
    OK(pthread_rwlock_wrlock(&l));
    OK(pthread_join(spawn(read_it, &l), &result));
    CHECK_IS((intptr_t)result, EBUSY);
    OK(pthread_rwlock_unlock(&l));
    OK(pthread_barrier_init(&b, NULL, 1));
    CHECK_IS(pthread_barrier_wait(&b), PTHREAD_BARRIER_SERIAL_THREAD);
    OK(pthread_barrier_destroy(&b));
}

const test_case forwarded_cases[] = {CASE(shared_objects_work_between_processes),
                                     CASE(shared_objects_may_be_tried_first),
                                     CASE(a_shared_condvar_wakes_another_process),
                                     CASE(a_process_without_the_library_shares_them),
                                     CASE(a_robust_mutex_tells_of_a_dead_owner),
                                     CASE(a_robust_mutex_survives_a_killed_process),
                                     CASE(priority_inheritance_is_glibcs),
                                     CASE(priority_protection_is_glibcs),
                                     CASE(priority_functions_refuse_other_mutexes),
                                     CASE(a_private_condvar_waits_with_glibcs_mutexes),
                                     CASE(a_shared_condvar_waits_with_a_private_mutex),
                                     CASE(rwlocks_and_barriers_work_beside),
                                     {0}};
