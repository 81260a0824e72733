/* other.c - C11's mutexes and condition variables, and spin locks */
#include "case.h"

#include <sys/mman.h>
#include <threads.h>

/* ---- C11 */

static mtx_t mutex;
static cnd_t cond;
static int count, ready;

static int count_up(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        CHECK_IS(mtx_lock(&mutex), thrd_success);
        count++;
        CHECK_IS(mtx_unlock(&mutex), thrd_success);
    }
    mtx_lock(&mutex);
    ready++;
    cnd_broadcast(&cond);
    while (ready < 3)
        CHECK_IS(cnd_wait(&cond, &mutex), thrd_success);
    ready++;
    while (ready < 6)
        CHECK_IS(cnd_wait(&cond, &mutex), thrd_success);
    CHECK_IS(cnd_signal(&cond), thrd_success); /* one wakes the next */
    mtx_unlock(&mutex);
    return 0;
}

static void c11_threads_count_together(void)
{
    CHECK_IS(mtx_init(&mutex, mtx_plain), thrd_success);
    CHECK_IS(cnd_init(&cond), thrd_success);
    thrd_t t[3];
    for (int i = 0; i < 3; i++)
        CHECK_IS(thrd_create(&t[i], count_up, NULL), thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK_IS(thrd_join(t[i], NULL), thrd_success);
    CHECK_IS(count, 3000);
    cnd_destroy(&cond);
    mtx_destroy(&mutex);
}

static int try_there(void *m)
{
    int result = thrd_success;
    for (int i = 0; i < 3 && result == thrd_success; i++) /* a thread's first use is another path */
        if ((result = mtx_trylock(m)) == thrd_success)
            CHECK_IS(mtx_unlock(m), thrd_success);
    return result;
}

static int try_elsewhere_c11(mtx_t *m)
{
    thrd_t t;
    int result;
    CHECK_IS(thrd_create(&t, try_there, m), thrd_success);
    CHECK_IS(thrd_join(t, &result), thrd_success);
    return result;
}

static void c11_types_keep_their_word(void)
{
    static const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive};
    for (int i = 0; i < 4; i++) {
        mtx_t m;
        CHECK_IS(mtx_init(&m, types[i]), thrd_success);
        CHECK_IS(mtx_lock(&m), thrd_success);
        CHECK_IS(try_elsewhere_c11(&m), thrd_busy);
        if (types[i] & mtx_recursive) {
            CHECK_IS(mtx_lock(&m), thrd_success);
            CHECK_IS(mtx_trylock(&m), thrd_success);
            CHECK_IS(mtx_unlock(&m), thrd_success);
            CHECK_IS(mtx_unlock(&m), thrd_success);
        } else {
            CHECK_IS(mtx_trylock(&m), thrd_busy);
            struct timespec soon = in_ms(CLOCK_REALTIME, 3), ancient = {-1, 0};
            CHECK_IS(mtx_timedlock(&m, &soon), thrd_timedout);
            CHECK_IS(mtx_timedlock(&m, &ancient), thrd_timedout);
        }
        CHECK_IS(mtx_unlock(&m), thrd_success);
        CHECK_IS(try_elsewhere_c11(&m), thrd_success);
        if (types[i] & mtx_recursive)
            CHECK_IS(mtx_unlock(&m), thrd_error);
        mtx_destroy(&m);
        CHECK_IS(mtx_lock(&m), thrd_error);
    }
}

static void c11_waits_time_out(void)
{
    memset(&mutex, 0x5a, sizeof mutex); /* whatever was there */
    memset(&cond, 0x5a, sizeof cond);
    CHECK_IS(mtx_init(&mutex, mtx_plain), thrd_success);
    CHECK_IS(cnd_init(&cond), thrd_success);
    struct timespec soon = in_ms(CLOCK_REALTIME, 3), ancient = {-1, 0};
    CHECK_IS(mtx_lock(&mutex), thrd_success);
    CHECK_IS(cnd_timedwait(&cond, &mutex, &ancient), thrd_timedout);
    int result;
    while ((result = cnd_timedwait(&cond, &mutex, &soon)) == thrd_success)
        ;
    CHECK_IS(result, thrd_timedout);
    CHECK_IS(cnd_signal(&cond), thrd_success);
    CHECK_IS(mtx_unlock(&mutex), thrd_success);
    CHECK_IS(try_elsewhere_c11(&mutex), thrd_success);
}

/* ---- spin locks */

static pthread_spinlock_t spin;
static int spun;

static void *spin_up(void *unused)
{
    for (int i = 0; i < 3000; i++) {
        if (i % 5 == 4) {
            while (pthread_spin_trylock(&spin) == EBUSY)
                sched_yield();
        } else {
            OK(pthread_spin_lock(&spin));
        }
        spun++;
        OK(pthread_spin_unlock(&spin));
    }
    return unused;
}

static void spin_locks_exclude(void)
{
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(spin_up, NULL);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    CHECK_IS(spun, 4 * 3000);
    OK(pthread_spin_destroy(&spin));
}

static void *release_it(void *unused)
{
    OK(pthread_spin_unlock(&spin));
    return unused;
}

static void a_spin_lock_may_be_unlocked_by_another(void)
{
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    for (int i = 0; i < 30; i++) {
        OK(pthread_spin_lock(&spin));
        CHECK_IS(pthread_spin_trylock(&spin), EBUSY);
        join(spawn(release_it, NULL));
    }
    OK(pthread_spin_lock(&spin));
}

/* Its owner sleeps for long. Waiters need not burn a CPU meanwhile, and they get the lock afterwards. */
static void a_spin_lock_is_got_from_a_sleeping_owner(void)
{
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&spin));
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(spin_up, NULL);
    pause_ms(30);
    CHECK_IS(spun, 0);
    OK(pthread_spin_unlock(&spin));
    for (int i = 0; i < 4; i++)
        join(t[i]);
    CHECK_IS(spun, 4 * 3000);
}

static void *spin_once(void *asynchronous)
{
    if (asynchronous != NULL)
        OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    OK(pthread_spin_lock(&spin));
    OK(pthread_spin_unlock(&spin));
    return NULL;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* glibc's don't. */
static void waiters_for_a_spin_lock_leave_the_cpu_to_others(void)
{
    for (int i = 0; i < 2; i++) {
        OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
        OK(pthread_spin_lock(&spin));
        int64_t begun = now_ns(CLOCK_MONOTONIC), before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        pthread_t t = spawn(spin_once, i == 0 ? NULL : &spun);
        pause_ms(150);
        int64_t used = now_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
        CHECK(used < (now_ns(CLOCK_MONOTONIC) - begun) / 2);
        OK(pthread_spin_unlock(&spin));
        join(t);
    }
}

static _Atomic(int) stuck;

static void *spin_twice(void *unused)
{
    OK(pthread_spin_lock(&spin));
    stuck = 1;
    OK(pthread_spin_lock(&spin));
    stuck = 2;
    OK(pthread_spin_unlock(&spin));
    return unused;
}

/* glibc does not know the owner: a thread that locks again waits until another unlocks it. */
static void a_spin_lock_that_is_locked_twice_waits(void)
{
    OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    pthread_t t = spawn(spin_twice, NULL);
    while (stuck == 0)
        pause_ms(1);
    pause_ms(5);
    CHECK_IS(stuck, 1);
    CHECK_IS(pthread_spin_trylock(&spin), EBUSY);
    OK(pthread_spin_unlock(&spin));
    join(t);
    CHECK_IS(stuck, 2);
}

static void a_destroyed_spin_lock_is_made_again(void)
{
    for (int i = 0; i < 4; i++) {
        OK(pthread_spin_init(&spin, i % 2 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE));
        OK(pthread_spin_trylock(&spin));
        CHECK_IS(pthread_spin_trylock(&spin), EBUSY);
        OK(pthread_spin_unlock(&spin));
        OK(pthread_spin_lock(&spin));
        OK(pthread_spin_unlock(&spin));
        OK(pthread_spin_destroy(&spin));
    }
}

/* glibc's spin locks work between processes, whatever they were initialised for. */
static void a_spin_lock_in_shared_memory_works(void)
{
    struct {
        pthread_spinlock_t lock;
        int count;
    } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(pthread_spin_init(&shared->lock, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&shared->lock));
    int child[2];
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            OK(pthread_spin_lock(&shared->lock));
            shared->count++;
            OK(pthread_spin_unlock(&shared->lock));
            _exit(0);
        }
    }
    pause_ms(20);
    CHECK_IS(shared->count, 0);
    OK(pthread_spin_unlock(&shared->lock));
    OK(child_status(child[0]));
    OK(child_status(child[1]));
    CHECK_IS(shared->count, 2);
}

const test_case other_cases[] = {CASE(c11_threads_count_together),
                                 CASE(c11_types_keep_their_word),
                                 CASE(c11_waits_time_out),
                                 CASE(spin_locks_exclude),
                                 CASE(a_spin_lock_may_be_unlocked_by_another),
                                 CASE(a_spin_lock_is_got_from_a_sleeping_owner),
                                 CASE(a_spin_lock_that_is_locked_twice_waits),
                                 BEYOND(waiters_for_a_spin_lock_leave_the_cpu_to_others),
                                 CASE(a_destroyed_spin_lock_is_made_again),
                                 CASE(a_spin_lock_in_shared_memory_works),
                                 {0}};
