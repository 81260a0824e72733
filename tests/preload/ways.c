/* ways.c - the short ways of an uncontended mutex are taken, and no way leads past those that wait */
#include "case.h"
#include "../step.h"

#include <pawl/locks.h>

/* ---- in instructions */

enum { TRIES = 5 };

static pthread_mutex_t *counted;

static void lock_it_and_unlock_it(void *unused)
{
    (void)unused;
    OK(pthread_mutex_lock(counted));
    OK(pthread_mutex_unlock(counted));
}

static bool go_on(int instruction)
{
    (void)instruction;
    return true;
}

/* The least of several tries: one may take something from the process. */
static int least(pthread_mutex_t *m, int tries)
{
    int least = INT32_MAX;
    for (int i = 0; i < tries; i++) {
        counted = &m[i];
        int n = step_through(lock_it_and_unlock_it, NULL, go_on);
        least = n < least ? n : least;
    }
    return least;
}

/* Of a mutex that has been used: statistics want to know of the first uses more than of others. */
static int instructions_for(int type)
{
    enum { USES = 40 };
    pthread_mutex_t m[TRIES];
    for (int i = 0; i < TRIES; i++) {
        make_mutex(&m[i], type);
        counted = &m[i];
        for (int j = 0; j < USES; j++)
            lock_it_and_unlock_it(NULL);
    }
    return least(m, TRIES);
}

static void be_able_to_count(void)
{
    static pthread_mutex_t warm = PTHREAD_MUTEX_INITIALIZER;
    if (!step_possible())
        skip("cannot step here");
    least(&warm, 1); /* the dynamic linker's part */
}

static void a_normal_mutex_takes_the_shortest_way(void)
{
    be_able_to_count();
    int checked = instructions_for(PTHREAD_MUTEX_ERRORCHECK);
    CHECK(instructions_for(PTHREAD_MUTEX_NORMAL) < checked);
    CHECK(instructions_for(PTHREAD_MUTEX_DEFAULT) < checked);
    CHECK(instructions_for(PTHREAD_MUTEX_RECURSIVE) < checked);
}

static void all_types_take_the_same_way(void)
{
    enum { MORE = 10 }; /* a recursive one asks for its depth, and so on */
    be_able_to_count();
    int normal = instructions_for(PTHREAD_MUTEX_NORMAL);
    CHECK(instructions_for(PTHREAD_MUTEX_RECURSIVE) < normal + MORE);
    CHECK(instructions_for(PTHREAD_MUTEX_ERRORCHECK) < normal + MORE);
}

static void so_it_does_in_a_child(void)
{
    be_able_to_count();
    int before = instructions_for(PTHREAD_MUTEX_NORMAL);
    int child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int after = instructions_for(PTHREAD_MUTEX_NORMAL);
        CHECK(after < before + before / 4); /* how far statistics look for a row differs */
        _exit(0);
    }
    OK(child_status(child));
}

static void a_relock_takes_a_short_way(void)
{
    be_able_to_count();
    pthread_mutex_t m;
    make_mutex(&m, PTHREAD_MUTEX_RECURSIVE);
    OK(pthread_mutex_lock(&m));
    int once = least(&m, 1);
    CHECK(once < instructions_for(PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_lock(&m));
    CHECK_IS(least(&m, 1), once); /* however often */
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_unlock(&m));
}

static void the_first_use_takes_the_short_way(void)
{
    be_able_to_count();
    pthread_mutex_t m[TRIES];
    for (int i = 0; i < TRIES; i++)
        OK(pthread_mutex_init(&m[i], NULL));
    int first = least(m, TRIES);
    CHECK_IS(least(m, TRIES), first);
}

static void *time_out(void *mutex)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 10);
    CHECK_IS(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
    return NULL;
}

static void one_that_has_given_up_leaves_the_way_short(void)
{
    be_able_to_count();
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    OK(pthread_mutex_lock(&m));
    join(spawn(time_out, &m));
    OK(pthread_mutex_unlock(&m));
    least(&m, 1);
    CHECK(least(&m, 1) < instructions_for(PTHREAD_MUTEX_ERRORCHECK));
}

/* ---- first come, first served, where the register says so */

static pthread_mutex_t mutex, another;
static _Atomic(int) tid;
static _Atomic(bool) entered;

typedef enum before { NOTHING, HOLDS_ANOTHER, TRIED_ANOTHER, UNLOCKED_ANOTHER, BEFORE } before;

static void *come_first(void *argument)
{
    before what = (before)(intptr_t)argument;
    if (what == HOLDS_ANOTHER || what == UNLOCKED_ANOTHER)
        OK(pthread_mutex_lock(&another));
    if (what == TRIED_ANOTHER)
        OK(pthread_mutex_trylock(&another));
    if (what == UNLOCKED_ANOTHER)
        OK(pthread_mutex_unlock(&another));
    tid = own_tid();
    OK(pthread_mutex_lock(&mutex));
    entered = true;
    OK(pthread_mutex_unlock(&mutex));
    if (what == HOLDS_ANOTHER || what == TRIED_ANOTHER)
        OK(pthread_mutex_unlock(&another));
    return NULL;
}

static void be_overtaken_by_nobody(before what)
{
    tid = 0;
    entered = false;
    OK(pthread_mutex_lock(&mutex));
    pthread_t t = spawn(come_first, (void *)(intptr_t)what);
    while (tid == 0)
        pause_ms(1);
    await_asleep(tid);
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex)); /* behind it */
    CHECK(entered);
    OK(pthread_mutex_unlock(&mutex));
    join(t);
}

static void who_comes_first_is_served_first(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    if (lock_info()->order != PAWL_FIFO)
        skip("it serves in another order");
    for (int i = 0; i < 3; i++) {
        make_mutex(&mutex, types[i]);
        make_mutex(&another, types[i]);
        for (before what = NOTHING; what < BEFORE; what++)
            be_overtaken_by_nobody(what);
    }
}

#define COUNTED(f)                                                                                           \
    {                                                                                                        \
        .name = #f "_under_statistics", .run = f, .scope = BEYOND_GLIBC,                                     \
        .environment = "PAWL_STATS=/dev/null"                                                                \
    }

const test_case ways_cases[] = {BEYOND(a_normal_mutex_takes_the_shortest_way),
                                BEYOND(so_it_does_in_a_child),
                                BEYOND(a_relock_takes_a_short_way),
                                BEYOND(the_first_use_takes_the_short_way),
                                BEYOND(one_that_has_given_up_leaves_the_way_short),
                                BEYOND(who_comes_first_is_served_first),
                                COUNTED(all_types_take_the_same_way),
                                COUNTED(so_it_does_in_a_child),
                                {0}};
