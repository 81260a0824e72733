/* native.c - what libpawl-native.so measures into the file that PAWL_WORST names; nothing under other libraries */
#include "case.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <threads.h>

enum { HELD_MS = 20 };

static _Atomic(uint64_t) *worst;

static bool is_measured(void)
{
    const char *path = getenv("PAWL_WORST");
    int file = path != NULL && lock_name() == NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    worst = mmap(NULL, sizeof *worst, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(worst != MAP_FAILED);
    close(file);
    return true;
}

typedef struct scene {
    pthread_mutex_t mutex;
    int (*lock)(pthread_mutex_t *m);
    _Atomic(int) tid;
} scene;

static int lock_plain(pthread_mutex_t *m)
{
    return pthread_mutex_lock(m);
}

static int lock_timed(pthread_mutex_t *m)
{
    struct timespec later = in_ms(CLOCK_REALTIME, 100000);
    return pthread_mutex_timedlock(m, &later);
}

static int lock_by_clock(pthread_mutex_t *m)
{
    struct timespec later = in_ms(CLOCK_MONOTONIC, 100000);
    return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &later);
}

static int lock_c11(pthread_mutex_t *m)
{
    return mtx_lock((mtx_t *)m);
}

static int lock_timed_c11(pthread_mutex_t *m)
{
    struct timespec later = in_ms(CLOCK_REALTIME, 100000);
    return mtx_timedlock((mtx_t *)m, &later);
}

static void *lock_and_unlock(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(s->lock(&s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

/* Another thread waits for it, at least that long. */
static void keep_waiting(scene *s, int (*lock)(pthread_mutex_t *m), int milliseconds)
{
    s->lock = lock;
    s->tid = 0;
    *worst = 0;
    OK(pthread_mutex_lock(&s->mutex));
    pthread_t t = spawn(lock_and_unlock, s);
    while (s->tid == 0)
        pause_ms(1);
    await_asleep(s->tid);
    pause_ms(milliseconds);
    OK(pthread_mutex_unlock(&s->mutex));
    join(t);
}

static void the_longest_wait_is_measured(void)
{
    static int (*const locks[])(pthread_mutex_t * m) = {lock_plain, lock_timed, lock_by_clock, lock_c11,
                                                        lock_timed_c11};
    if (!is_measured())
        return;
    for (int i = 0; i < 5; i++) {
        scene s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        keep_waiting(&s, locks[i], HELD_MS);
        CHECK(*worst >= HELD_MS * 1000000u);
        CHECK(*worst < 3600 * (uint64_t)1000000000);
    }
}

/* Free mutexes, those that Pawl leaves to glibc, and waits that end without the mutex. */
static void nothing_else_is_measured(void)
{
    if (!is_measured())
        return;
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
    scene s;
    OK(pthread_mutex_init(&s.mutex, &a));
    keep_waiting(&s, lock_plain, 1);
    CHECK_IS(*worst, 0);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 100; i++) {
        OK(pthread_mutex_lock(&m));
        OK(pthread_mutex_unlock(&m));
    }
    OK(pthread_mutex_lock(&m));
    struct timespec soon = in_ms(CLOCK_REALTIME, 1);
    CHECK_IS(pthread_mutex_timedlock(&m, &soon), ETIMEDOUT);
    CHECK_IS(*worst, 0);
}

const test_case native_cases[] = {CASE(the_longest_wait_is_measured), CASE(nothing_else_is_measured), {0}};
