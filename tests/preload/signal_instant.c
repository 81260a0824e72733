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
static int inside[HANDS], when;
static _Atomic(bool) stop;
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

static void unlock_the_first(void *unused)
{
    (void)unused;
    OK(pthread_mutex_unlock(&hand[0]));
}

static bool unlock_the_second(int instruction)
{
    if (instruction < when)
        return true;
    OK(pthread_mutex_unlock(&hand[1]));
    done = true;
    return false;
}

static bool use_the_third(int instruction)
{
    if (instruction < when)
        return true;
    OK(pthread_mutex_lock(&hand[2]));
    inside[2]++;
    struct timespec nap = {0, 20000}; /* so that the other waits */
    nanosleep(&nap, NULL);
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

/* Of the call's instructions, for a while, one after the other. */
static void in_a_hand_over(bool (*handler)(int), int taken)
{
    struct timespec limit = in_ms(CLOCK_MONOTONIC, 400);
    done = true;
    for (when = 0; done && !is_over(&limit); when++) {
        done = false;
        for (int i = 0; i < taken; i++)
            OK(pthread_mutex_lock(&hand[i]));
        step_through(unlock_the_first, NULL, handler);
        if (!done && taken > 1)
            OK(pthread_mutex_unlock(&hand[1]));
    }
}

static void a_handler_may_unlock_in_a_hand_over(void)
{
    begin();
    pthread_t t[HANDS];
    for (int i = 0; i < HANDS; i++)
        t[i] = spawn(hammer, (void *)(intptr_t)i);
    for (int round = 0; round < 2; round++) {
        in_a_hand_over(unlock_the_second, 2);
        in_a_hand_over(use_the_third, 1);
    }
    stop = true;
    for (int i = 0; i < HANDS; i++)
        join(t[i]);
}

#define COUNTED(f)                                                                                           \
    {                                                                                                        \
        .name = #f "_under_statistics", .run = f, .scope = BEYOND_GLIBC,                                     \
        .environment = "PAWL_STATS=/dev/null"                                                                \
    }

const test_case signal_instant_cases[] = {CASE(a_handler_may_lock_at_any_instruction),
                                          COUNTED(a_handler_may_lock_at_any_instruction),
                                          CASE(a_handler_may_unlock_in_a_hand_over),
                                          {0}};
