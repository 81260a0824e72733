/* signal_instant.c - a signal handler that locks between any two instructions of a call */
#include "case.h"
#include "../step.h"

/* ---- a lock and an unlock that do not wait */

enum { OTHERS = 4, PASSES = 8 };

static pthread_mutex_t mutex, recursive, others[OTHERS];
static bool held[OTHERS];
static int period, turn;

static void use_them(void *unused)
{
    (void)unused;
    struct timespec late = {INT32_MAX, 0};
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_lock(&recursive));
    OK(pthread_mutex_unlock(&recursive));
    OK(pthread_mutex_unlock(&recursive));
    OK(pthread_mutex_unlock(&mutex));
    int result = pthread_mutex_trylock(&mutex);
    if (result == 0)
        OK(pthread_mutex_unlock(&mutex));
    else
        CHECK_IS(result, EBUSY); /* a handler had it meanwhile */
    OK(pthread_mutex_timedlock(&mutex, &late));
    OK(pthread_mutex_unlock(&mutex));
}

/* Locks one, or unlocks it if an earlier handler has locked it. */
static bool lock_or_unlock(int instruction)
{
    if (instruction % period != 0)
        return true;
    int i = turn++ / 2 % OTHERS;
    if (held[i])
        OK(pthread_mutex_unlock(&others[i]));
    else
        OK(turn % 3 ? pthread_mutex_lock(&others[i]) : pthread_mutex_trylock(&others[i]));
    held[i] = !held[i];
    return true;
}

/* A handler must unlock what it has locked, with Hemlock. */
static bool lock_and_unlock(int instruction)
{
    int i = instruction % OTHERS;
    OK(instruction % 3 ? pthread_mutex_lock(&others[i]) : pthread_mutex_trylock(&others[i]));
    OK(pthread_mutex_unlock(&others[i]));
    return true;
}

static bool try_the_same(int instruction)
{
    (void)instruction;
    int result = pthread_mutex_trylock(&mutex);
    CHECK(result == 0 || result == EBUSY);
    if (result == 0)
        OK(pthread_mutex_unlock(&mutex));
    return true;
}

static _Atomic(int) tid;
static _Atomic(bool) stop;
static _Atomic(bool) entered[OTHERS];

static void *enter(void *argument)
{
    int i = (int)(intptr_t)argument;
    tid = own_tid();
    OK(pthread_mutex_lock(&others[i]));
    entered[i] = true;
    OK(pthread_mutex_unlock(&others[i]));
    return NULL;
}

static pthread_t spawn_and_await(void *(*run)(void *), int i)
{
    tid = 0;
    pthread_t t = spawn(run, (void *)(intptr_t)i);
    while (tid == 0)
        pause_ms(1);
    await_asleep(tid);
    return t;
}

/* If two of them shared what a thread keeps for a lock, who waits for one would get in when the other is unlocked. */
static void each_has_its_own_waiter(void)
{
    pthread_t t[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        entered[i] = false;
        if (!held[i])
            OK(pthread_mutex_lock(&others[i]));
        held[i] = false;
    }
    for (int i = 0; i < OTHERS; i++)
        t[i] = spawn_and_await(enter, i);
    for (int i = 0; i < OTHERS; i++) {
        OK(pthread_mutex_unlock(&others[i]));
        join(t[i]);
        for (int k = i + 1; k < OTHERS; k++)
            CHECK(!entered[k]);
    }
}

static void at_every_instruction(void (*call)(void *), bool (*handler)(int))
{
    period = 1;
    handler(0); /* the dynamic linker's part, and the first use */
    handler(0);
    call(NULL);
    step_through(call, NULL, handler);
}

static void begin(void)
{
    if (!step_possible())
        skip("cannot step here");
    make_mutex(&recursive, PTHREAD_MUTEX_RECURSIVE);
}

static bool is_hemlock(void)
{
    return lock_name() != NULL && strncmp(lock_name(), "hemlock", strlen("hemlock")) == 0;
}

static void a_handler_may_lock_at_any_instruction(void)
{
    begin();
    for (int pass = 0; pass < PASSES && !is_hemlock(); pass++) {
        turn = pass; /* locks where it has unlocked in another pass */
        at_every_instruction(use_them, lock_or_unlock);
        period = 1 + pass / 2;
        step_through(use_them, NULL, lock_or_unlock);
        each_has_its_own_waiter();
    }
    at_every_instruction(use_them, lock_and_unlock);
    at_every_instruction(use_them, try_the_same);
    each_has_its_own_waiter();
}

/* ---- an unlock that hands the mutex off, while another waits for another */

enum { HANDS = 3 };
static pthread_mutex_t hand[HANDS];
static int inside[HANDS], when, passed;
static bool done;

static void *hammer(void *argument)
{
    int i = (int)(intptr_t)argument;
    while (!stop) {
        OK(pthread_mutex_lock(&hand[i]));
        CHECK_IS(inside[i]++, 0);
        inside[i]--;
        OK(pthread_mutex_unlock(&hand[i]));
    }
    return NULL;
}

/* Or not: it is only a try. */
static void let_them_wait(void)
{
    struct timespec nap = {0, 20000};
    nanosleep(&nap, NULL);
}

static void unlock_the_first(void *unused)
{
    (void)unused;
    OK(pthread_mutex_unlock(&hand[0]));
}

/* The unlock has begun: nobody owns it, and so many instructions have followed. */
static bool is_time(void)
{
    return hand[0].__data.__owner != tid && passed++ >= when;
}

static bool unlock_the_second(int instruction)
{
    (void)instruction;
    if (!is_time())
        return true;
    OK(pthread_mutex_unlock(&hand[1]));
    done = true;
    return false;
}

static bool use_the_third(int instruction)
{
    (void)instruction;
    if (!is_time())
        return true;
    OK(pthread_mutex_lock(&hand[2]));
    inside[2]++;
    let_them_wait();
    inside[2]--;
    OK(pthread_mutex_unlock(&hand[2]));
    done = true;
    return false;
}

static bool is_over(const struct timespec *limit)
{
    struct timespec now = in_ms(CLOCK_MONOTONIC, 0);
    return now.tv_sec != limit->tv_sec ? now.tv_sec > limit->tv_sec : now.tv_nsec > limit->tv_nsec;
}

/* For a while, one instruction later each time. */
static void in_a_hand_over(bool (*handler)(int), int taken)
{
    struct timespec limit = in_ms(CLOCK_MONOTONIC, 1000);
    tid = own_tid();
    for (when = 0; when < 400 && !is_over(&limit); when++) {
        done = false;
        passed = 0;
        for (int i = 0; i < taken; i++)
            OK(pthread_mutex_lock(&hand[i]));
        let_them_wait();
        step_through(unlock_the_first, NULL, handler);
        if (!done && taken > 1)
            OK(pthread_mutex_unlock(&hand[1]));
    }
}

static void a_handler_may_unlock_in_a_hand_over(void)
{
    if (lock_name() != NULL && strcmp(lock_name(), "hemlock_chain") == 0)
        skip("it may wait for its successor"); /* docs/preload.md */
    begin();
    pthread_t t[HANDS];
    for (int i = 0; i < HANDS; i++)
        t[i] = spawn(hammer, (void *)(intptr_t)i);
    in_a_hand_over(unlock_the_second, 2);
    in_a_hand_over(use_the_third, 1);
    stop = true;
    for (int i = 0; i < HANDS; i++)
        join(t[i]);
}

/* ---- a wait in one of libpawl's buckets, in which are other objects, too */

enum { OBJECTS = 16384 };
static union object {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} objects[OBJECTS];
static int next_object;

static unsigned bucket_of(const void *key)
{
    return (unsigned)((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u >> 54);
}

/* Another object in the bucket of that one, if keys are so far from the beginning of objects. */
static union object *neighbour_of(const void *object, int offset)
{
    for (; next_object < OBJECTS; next_object++)
        if (bucket_of((char *)&objects[next_object] + offset) == bucket_of((const char *)object + offset))
            return &objects[next_object++];
    fail(__FILE__, __LINE__, "no object is in that bucket");
}

static pthread_mutex_t kept, waited_with, not_owned, *kept_too, *wanted, *unused_one;
static pthread_cond_t cond, *another_cond;

static struct timespec soon(long nanoseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *keep_them(void *unused)
{
    OK(pthread_mutex_lock(&kept));
    OK(pthread_mutex_lock(kept_too));
    tid = own_tid();
    while (!stop)
        pause_ms(1);
    OK(pthread_mutex_unlock(kept_too));
    OK(pthread_mutex_unlock(&kept));
    return unused;
}

static void *want_it(void *unused)
{
    tid = own_tid();
    while (!stop) {
        struct timespec late = in_ms(CLOCK_REALTIME, 100000);
        OK(pthread_mutex_timedlock(wanted, &late));
        OK(pthread_mutex_unlock(wanted));
    }
    return unused;
}

static void wait_in_vain(void *unused)
{
    struct timespec end = soon(2000000), past = {1, 0};
    (void)unused;
    CHECK_IS(pthread_mutex_timedlock(&kept, &end), ETIMEDOUT);
    CHECK_IS(pthread_cond_timedwait(&cond, &waited_with, &past), ETIMEDOUT);
}

/* Rarely enough for clock_gettime(), which starts again if the kernel has set the clock meanwhile. */
enum { APART = 16 };

static bool owned;

static bool do_without_the_bucket(int instruction)
{
    if (instruction % APART != turn)
        return true;
    struct timespec end = soon(20000), past = {1, 0};
    CHECK_IS(pthread_mutex_timedlock(kept_too, &end), ETIMEDOUT);
    CHECK_IS(pthread_cond_timedwait(another_cond, &not_owned, &past), EPERM);
    OK(pthread_mutex_destroy(unused_one));
    OK(pthread_mutex_init(unused_one, NULL));
    OK(pthread_mutex_lock(unused_one));
    CHECK_IS(pthread_cond_timedwait(another_cond, unused_one, &past), ETIMEDOUT);
    OK(pthread_mutex_unlock(unused_one));
    if (is_hemlock())
        return true;
    if (owned) /* does not wait for who wants it, and may need the bucket */
        OK(pthread_mutex_unlock(wanted));
    owned = !owned && pthread_mutex_trylock(wanted) == 0;
    return true;
}

static void a_handler_does_without_the_bucket_of_its_thread(void)
{
    begin();
    kept_too = &neighbour_of(&kept, 0)->mutex;
    wanted = &neighbour_of(&kept, 0)->mutex;
    unused_one = &neighbour_of(&waited_with, 1)->mutex;
    another_cond = &neighbour_of(&cond, 0)->cond;
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED)); /* glibc's */
    OK(pthread_mutex_init(&not_owned, &a));
    pthread_t keeper = spawn_and_await(keep_them, 0);
    OK(pthread_mutex_lock(&waited_with));
    OK(pthread_mutex_lock(wanted));
    owned = true;
    pthread_t other = spawn_and_await(want_it, 0);
    for (turn = 0; turn < APART; turn++) {
        do_without_the_bucket(turn); /* the dynamic linker's part, and the first use */
        step_through(wait_in_vain, NULL, do_without_the_bucket);
    }
    stop = true;
    if (owned)
        OK(pthread_mutex_unlock(wanted));
    OK(pthread_mutex_unlock(&waited_with));
    join(other);
    join(keeper);
}

#define COUNTED(f)                                                                                           \
    {                                                                                                        \
        .name = #f "_under_statistics", .run = f, .scope = BEYOND_GLIBC,                                     \
        .environment = "PAWL_STATS=/dev/null"                                                                \
    }

const test_case signal_instant_cases[] = {CASE(a_handler_may_lock_at_any_instruction),
                                          COUNTED(a_handler_may_lock_at_any_instruction),
                                          CASE(a_handler_may_unlock_in_a_hand_over),
                                          CASE(a_handler_does_without_the_bucket_of_its_thread),
                                          {0}};
