/* basic.c - state in place: what a mutex is made of, and where */
#include "case.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>

/* ---- bytes */

typedef struct guarded {
    uint64_t before;
    char object[64];
} guarded;

static void *use_both(void *object)
{
    pthread_mutex_t *m = object;
    for (int i = 0; i < 200; i++) {
        OK(pthread_mutex_lock(m));
        if (i % 16 == 0)
            sched_yield();
        OK(pthread_mutex_unlock(m));
    }
    return NULL;
}

/* Only 8-byte alignment is promised, and nothing beyond its end is ours. */
static void a_mutex_stays_within_its_bytes_at_any_word(void)
{
    static _Alignas(64) unsigned char memory[256];
    for (size_t at = 8; at < 72; at += 8) {
        memset(memory, 0xa5, sizeof memory);
        pthread_mutex_t *m = (pthread_mutex_t *)(memory + at);
        memset(m, 0, sizeof *m);
        pthread_t a = spawn(use_both, m), b = spawn(use_both, m);
        use_both(m);
        join(a);
        join(b);
        struct timespec soon = in_ms(CLOCK_REALTIME, 1);
        OK(pthread_mutex_lock(m));
        CHECK_IS(pthread_mutex_timedlock(m, &soon), ETIMEDOUT);
        OK(pthread_mutex_unlock(m));
        OK(pthread_mutex_destroy(m));
        for (size_t i = 0; i < sizeof memory; i++)
            if (i < at || i >= at + sizeof *m)
                CHECK_IS(memory[i], 0xa5);
    }
}

static void *wait_once(void *argument)
{
    void **both = argument;
    pthread_mutex_t *m = both[1];
    OK(pthread_mutex_lock(m));
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    int result = pthread_cond_timedwait(both[0], m, &soon);
    CHECK(result == 0 || result == ETIMEDOUT);
    OK(pthread_mutex_unlock(m));
    return NULL;
}

static void a_condvar_stays_within_its_bytes(void)
{
    static _Alignas(64) unsigned char memory[256];
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (size_t at = 8; at < 40; at += 8) {
        memset(memory, 0xa5, sizeof memory);
        pthread_cond_t *c = (pthread_cond_t *)(memory + at);
        memset(c, 0, sizeof *c);
        void *both[] = {c, &m};
        pthread_t a = spawn(wait_once, both), b = spawn(wait_once, both);
        OK(pthread_cond_signal(c));
        join(a);
        join(b);
        OK(pthread_cond_broadcast(c));
        OK(pthread_cond_destroy(c));
        for (size_t i = 0; i < sizeof memory; i++)
            if (i < at || i >= at + sizeof *c)
                CHECK_IS(memory[i], 0xa5);
    }
}

static void a_spinlock_stays_within_four_bytes(void)
{
    _Alignas(64) unsigned char memory[64];
    for (size_t at = 4; at < 32; at += 4) {
        memset(memory, 0xa5, sizeof memory);
        pthread_spinlock_t *s = (pthread_spinlock_t *)(memory + at);
        OK(pthread_spin_init(s, PTHREAD_PROCESS_PRIVATE));
        OK(pthread_spin_lock(s));
        CHECK_IS(pthread_spin_trylock(s), EBUSY);
        OK(pthread_spin_unlock(s));
        OK(pthread_spin_destroy(s));
        for (size_t i = 0; i < sizeof memory; i++)
            if (i < at || i >= at + 4)
                CHECK_IS(memory[i], 0xa5);
    }
}

/* ---- what debuggers read */

static void *hold_and_look(void *mutex)
{
    pthread_mutex_t *m = mutex;
    OK(pthread_mutex_lock(m));
    CHECK_IS(m->__data.__owner, own_tid());
    OK(pthread_mutex_unlock(m));
    return NULL;
}

static void the_owner_is_where_debuggers_look(void)
{
    pthread_mutex_t all[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                             PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
    for (int i = 0; i < 4; i++) {
        CHECK_IS(all[i].__data.__owner, 0);
        for (int turn = 0; turn < 3; turn++) {
            hold_and_look(&all[i]);
            CHECK_IS(all[i].__data.__owner, 0);
        }
        join(spawn(hold_and_look, &all[i]));
        OK(pthread_mutex_trylock(&all[i]));
        CHECK_IS(all[i].__data.__owner, own_tid());
        struct timespec soon = in_ms(CLOCK_REALTIME, 1000);
        OK(pthread_mutex_unlock(&all[i]));
        OK(pthread_mutex_timedlock(&all[i], &soon));
        CHECK_IS(all[i].__data.__owner, own_tid());
        OK(pthread_mutex_unlock(&all[i]));
    }
}

static void the_kind_is_where_glibc_has_it(void)
{
    static const int types[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
    pthread_mutex_t m;
    for (int i = 0; i < 3; i++) {
        make_mutex(&m, types[i]);
        hold_and_look(&m);
        CHECK_IS(m.__data.__kind, types[i]);
        OK(pthread_mutex_destroy(&m));
    }
    make_mutex(&m, PTHREAD_MUTEX_NORMAL);
    hold_and_look(&m);
    CHECK_IS(m.__data.__kind & ~0x200, PTHREAD_MUTEX_NORMAL);
    OK(pthread_mutex_destroy(&m));
}

/* ---- ways to begin */

static void every_static_initialiser_works(void)
{
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER,
                           recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                           checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                           adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    OK(pthread_mutex_lock(&normal));
    CHECK_IS(pthread_mutex_trylock(&normal), EBUSY);
    OK(pthread_mutex_unlock(&normal));
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_unlock(&recursive));
    CHECK_IS(try_elsewhere(&recursive), EBUSY);
    OK(pthread_mutex_unlock(&recursive));
    OK(try_elsewhere(&recursive));
    CHECK_IS(pthread_mutex_unlock(&checking), EPERM);
    OK(pthread_mutex_lock(&checking));
    CHECK_IS(pthread_mutex_lock(&checking), EDEADLK);
    OK(pthread_mutex_unlock(&checking));
    OK(pthread_mutex_lock(&adaptive));
    CHECK_IS(pthread_mutex_trylock(&adaptive), EBUSY);
    OK(pthread_mutex_unlock(&adaptive));
}

/* 0x200 is what pthread_mutexattr_settype() makes of NORMAL, and others write it themselves. */
static void explicit_normal_is_normal(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    m.__data.__kind = 0x200;
    use_both(&m);
    pthread_t other = spawn(use_both, &m);
    use_both(&m);
    join(other);
    CHECK_IS(m.__data.__kind, 0x200);
    OK(pthread_mutex_lock(&m));
    CHECK_IS(try_elsewhere(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_destroy(&m));
}

static void the_kind_may_be_written_later(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    use_both(&m);
    m.__data.__kind = PTHREAD_MUTEX_RECURSIVE;
    OK(pthread_mutex_lock(&m));
    OK(pthread_mutex_lock(&m));
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_unlock(&m));
    OK(try_elsewhere(&m));
}

static void initialising_again_makes_it_free(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 10; i++) {
        OK(pthread_mutex_lock(&m));
        OK(pthread_mutex_init(&m, NULL));
        OK(try_elsewhere(&m));
        OK(pthread_mutex_lock(&m));
        m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        OK(try_elsewhere(&m));
    }
}

static void destroyed_and_initialised_it_works_again(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 100; i++) {
        use_both(&m);
        OK(pthread_mutex_destroy(&m));
        OK(pthread_mutex_init(&m, NULL));
    }
    OK(pthread_mutex_destroy(&m));
}

/* ---- memory */

enum { MANY = 1000 };

static void no_mutex_takes_heap(void)
{
    static pthread_mutex_t m[MANY];
    static pthread_cond_t c[MANY];
    join(spawn(use_both, &m[0])); /* what a first thread allocates */
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < MANY; i++) {
        OK(pthread_mutex_init(&m[i], NULL));
        OK(pthread_cond_init(&c[i], NULL));
        OK(pthread_mutex_lock(&m[i]));
        OK(pthread_cond_signal(&c[i]));
    }
    for (int i = 0; i < MANY; i++)
        OK(pthread_mutex_unlock(&m[i]));
    struct mallinfo2 after = mallinfo2();
    CHECK_IS(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
}

static void hold_at_once(pthread_mutex_t *m, int count)
{
    for (int i = 0; i < count; i++)
        OK(pthread_mutex_lock(&m[i]));
    for (int i = 0; i < count; i++) {
        CHECK_IS(m[i].__data.__owner, own_tid());
        CHECK_IS(pthread_mutex_trylock(&m[i]), EBUSY);
    }
    for (int i = 0; i < count; i++) /* in the order of locking, which is not that of a stack */
        OK(pthread_mutex_unlock(&m[i]));
}

static void a_thousand_locks_are_held_at_once(void)
{
    static pthread_mutex_t m[MANY];
    hold_at_once(m, 194);
    hold_at_once(m, MANY);
    hold_at_once(m, MANY);
}

/* The destructor of a std::mutex does nothing. */
static void mutexes_that_nobody_destroys_leave_nothing_behind(void)
{
    enum { MUTEXES = 200000, ALLOWED = 4 << 20 };
    long before = 0;
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        OK(pthread_mutex_lock(&m));
        OK(pthread_mutex_unlock(&m));
        if (i == 0)
            before = resident_bytes();
    }
    CHECK(resident_bytes() - before < ALLOWED);
}

static void a_million_mutexes_work(void)
{
    size_t count = 1000000, size = count * sizeof(pthread_mutex_t);
    pthread_mutex_t *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(m != MAP_FAILED);
    for (size_t i = 0; i < count;
         i += 1 + i % 3 + (lock_name() != NULL && strcmp(lock_name(), "clh") == 0) * 30) {
        OK(pthread_mutex_lock(&m[i]));
        OK(pthread_mutex_unlock(&m[i]));
    }
    munmap(m, size);
}

/* ---- manners */

#define KEEPS_ERRNO(call)                                                                                    \
    do {                                                                                                     \
        errno = 1234;                                                                                        \
        (void)(call);                                                                                        \
        CHECK_IS(errno, 1234);                                                                               \
    } while (0)

static void errno_survives_every_call(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_spinlock_t s;
    struct timespec soon = in_ms(CLOCK_REALTIME, 2), monotonic = in_ms(CLOCK_MONOTONIC, 2);
    KEEPS_ERRNO(pthread_mutex_lock(&m));
    KEEPS_ERRNO(pthread_mutex_trylock(&m));
    KEEPS_ERRNO(pthread_mutex_timedlock(&m, &soon));
    KEEPS_ERRNO(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &monotonic));
    KEEPS_ERRNO(pthread_cond_timedwait(&c, &m, &soon));
    KEEPS_ERRNO(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &monotonic));
    KEEPS_ERRNO(pthread_cond_signal(&c));
    KEEPS_ERRNO(pthread_cond_broadcast(&c));
    KEEPS_ERRNO(pthread_mutex_unlock(&m));
    KEEPS_ERRNO(pthread_mutex_unlock(&e));
    KEEPS_ERRNO(pthread_mutex_destroy(&m));
    KEEPS_ERRNO(pthread_mutex_init(&m, NULL));
    KEEPS_ERRNO(pthread_cond_destroy(&c));
    KEEPS_ERRNO(pthread_cond_init(&c, NULL));
    KEEPS_ERRNO(pthread_spin_init(&s, 0));
    KEEPS_ERRNO(pthread_spin_lock(&s));
    KEEPS_ERRNO(pthread_spin_trylock(&s));
    KEEPS_ERRNO(pthread_spin_unlock(&s));
    KEEPS_ERRNO(pthread_spin_destroy(&s));
}

static void *lock_and_check_errno(void *mutex)
{
    for (int i = 0; i < 300; i++) {
        errno = 4321;
        OK(pthread_mutex_lock(mutex));
        CHECK_IS(errno, 4321);
        if (i % 8 == 0)
            sched_yield();
        errno = 4321;
        OK(pthread_mutex_unlock(mutex));
        CHECK_IS(errno, 4321);
    }
    return NULL;
}

static void errno_survives_contention(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(lock_and_check_errno, &m);
    for (int i = 0; i < 4; i++)
        join(t[i]);
}

static pthread_cond_t passed_on = PTHREAD_COND_INITIALIZER;
static int whose;

static void *take_turns_and_check_errno(void *argument)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int me = (int)(intptr_t)argument;
    for (int i = 0; i < 200; i++) {
        OK(pthread_mutex_lock(&m));
        while (whose != me)
            KEEPS_ERRNO(pthread_cond_wait(&passed_on, &m));
        whose = !me;
        if (i % 2 == 0)
            KEEPS_ERRNO(pthread_cond_signal(&passed_on));
        else
            KEEPS_ERRNO(pthread_cond_broadcast(&passed_on));
        OK(pthread_mutex_unlock(&m));
    }
    return NULL;
}

static void errno_survives_waits(void)
{
    pthread_t t[2] = {spawn(take_turns_and_check_errno, (void *)0),
                      spawn(take_turns_and_check_errno, (void *)1)};
    join(t[0]);
    join(t[1]);
}

const test_case basic_cases[] = {CASE(a_mutex_stays_within_its_bytes_at_any_word),
                                 CASE(a_condvar_stays_within_its_bytes),
                                 CASE(a_spinlock_stays_within_four_bytes),
                                 CASE(the_owner_is_where_debuggers_look),
                                 CASE(the_kind_is_where_glibc_has_it),
                                 CASE(every_static_initialiser_works),
                                 CASE(explicit_normal_is_normal),
                                 CASE(the_kind_may_be_written_later),
                                 CASE(initialising_again_makes_it_free),
                                 CASE(destroyed_and_initialised_it_works_again),
                                 CASE(no_mutex_takes_heap),
                                 CASE(a_thousand_locks_are_held_at_once),
                                 CASE(a_million_mutexes_work),
                                 CASE(mutexes_that_nobody_destroys_leave_nothing_behind),
                                 CASE(errno_survives_every_call),
                                 CASE(errno_survives_contention),
                                 CASE(errno_survives_waits),
                                 {0}};
