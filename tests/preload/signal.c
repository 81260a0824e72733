/* signal.c - a handler that locks: not allowed by POSIX, and it works with glibc as long as the interrupted thread does
 * not hold that mutex */
#include "case.h"

#include <signal.h>
#include <sys/time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, others = PTHREAD_MUTEX_INITIALIZER;
static int count, handled;
static _Atomic(bool) stop;

static void lock_another(int unused)
{
    (void)unused;
    OK(pthread_mutex_lock(&others));
    handled++;
    OK(pthread_mutex_unlock(&others));
}

static void try_the_same(int unused)
{
    (void)unused;
    int result = pthread_mutex_trylock(&mutex);
    CHECK(result == 0 || result == EBUSY);
    if (result == 0) {
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
}

static void *hammer(void *unused)
{
    while (!stop) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

static void interrupt(void (*handler)(int), int times)
{
    enum { THREADS = 3 };
    struct sigaction action = {.sa_handler = handler};
    OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        t[i] = spawn(hammer, NULL);
    for (int i = 0; i < times; i++) {
        OK(pthread_kill(t[i % THREADS], SIGUSR1));
        struct timespec nap = {0, 50000};
        nanosleep(&nap, NULL);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        join(t[i]);
    OK(try_elsewhere(&mutex));
    OK(try_elsewhere(&others));
}

static void a_handler_may_lock_another_mutex(void)
{
    interrupt(lock_another, 1000);
}

static void a_handler_may_try_the_same_mutex(void)
{
    interrupt(try_the_same, 1000);
}

static _Atomic(int) waiting_tid, passed;

static void unlock_the_first(int unused)
{
    (void)unused;
    OK(pthread_mutex_unlock(&mutex));
    passed = 1;
}

static void *hold_one_and_wait_for_another(void *unused)
{
    OK(pthread_mutex_lock(&mutex));
    waiting_tid = own_tid();
    OK(pthread_mutex_lock(&others));
    OK(pthread_mutex_unlock(&others));
    return unused;
}

static void *wait_for_the_first(void *unused)
{
    waiting_tid = own_tid();
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static pthread_t spawn_and_await(void *(*run)(void *))
{
    waiting_tid = 0;
    pthread_t t = spawn(run, NULL);
    while (waiting_tid == 0)
        pause_ms(1);
    await_asleep(waiting_tid);
    return t;
}

static void a_handler_may_unlock_what_its_thread_holds(void)
{
    struct sigaction action = {.sa_handler = unlock_the_first};
    OK(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 5; i++) {
        passed = 0;
        OK(pthread_mutex_lock(&others));
        pthread_t holder = spawn_and_await(hold_one_and_wait_for_another);
        pthread_t waiter = i % 2 ? spawn_and_await(wait_for_the_first) : holder;
        OK(pthread_kill(holder, SIGUSR1));
        while (!passed)
            pause_ms(1);
        if (i % 2)
            join(waiter);
        OK(try_elsewhere(&mutex));
        OK(pthread_mutex_unlock(&others));
        join(holder);
        OK(try_elsewhere(&others));
    }
}

/* More mutexes than a thread keeps nodes for: these go back to the process, however often a handler takes them. */
static pthread_mutex_t taken[40];

static void lock_and_try_them(int unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++)
        OK(i % 2 ? pthread_mutex_trylock(&taken[i]) : pthread_mutex_lock(&taken[i]));
    for (int i = 0; i < 40; i++)
        OK(pthread_mutex_unlock(&taken[i]));
    passed++;
}

static void a_handler_in_a_wait_leaves_nothing_behind(void)
{
    enum { SIGNALS = 600, LEAST = 16 * SIGNALS * 128 / 2 }; /* half of what is taken at the least */
    struct sigaction action = {.sa_handler = lock_and_try_them};
    OK(sigaction(SIGUSR1, &action, NULL));
    OK(pthread_mutex_lock(&mutex));
    pthread_t t = spawn_and_await(wait_for_the_first);
    long before = 0;
    for (int i = 0; i < SIGNALS; i++) {
        passed = 0;
        OK(pthread_kill(t, SIGUSR1));
        while (!passed)
            sched_yield();
        if (i == 10)
            before = resident_bytes();
    }
    CHECK(resident_bytes() - before < LEAST);
    OK(pthread_mutex_unlock(&mutex));
    join(t);
}

/* ---- and condition variables, of which glibc's do not survive it */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void signal_the_same(int unused)
{
    try_the_same(unused);
    OK(pthread_cond_signal(&cond));
    OK(pthread_cond_broadcast(&cond));
}

static void *take_turns(void *argument)
{
    int me = (int)(intptr_t)argument;
    OK(pthread_mutex_lock(&mutex));
    while (!stop) {
        while (turn != me && !stop)
            OK(pthread_cond_wait(&cond, &mutex));
        turn = !me;
        OK(pthread_cond_broadcast(&cond));
    }
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void a_handler_may_signal_the_same_condvar(void)
{
    struct sigaction action = {.sa_handler = signal_the_same};
    OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t t[2] = {spawn(take_turns, (void *)0), spawn(take_turns, (void *)1)};
    for (int i = 0; i < 1000; i++) {
        OK(pthread_kill(t[i % 2], SIGUSR1));
        struct timespec nap = {0, 50000};
        nanosleep(&nap, NULL);
    }
    OK(pthread_mutex_lock(&mutex));
    stop = true;
    OK(pthread_cond_broadcast(&cond));
    OK(pthread_mutex_unlock(&mutex));
    join(t[0]);
    join(t[1]);
    OK(try_elsewhere(&mutex));
}

/* ---- in the middle of a wait, with objects that have nothing to do with it, but for their place in libpawl's tables */

enum { OBJECTS = 16384, NEIGHBOURS = 8, WAITERS = 2 };
static union object {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} objects[OBJECTS], *neighbour[NEIGHBOURS];

static unsigned bucket_of(const void *object)
{
    return (unsigned)((uint64_t)(uintptr_t)object * 0x9E3779B97F4A7C15u >> 54);
}

static void find_neighbours(void)
{
    int found = 0;
    for (int i = 0; i < OBJECTS && found < NEIGHBOURS; i++)
        if (bucket_of(&objects[i]) == bucket_of(&cond))
            neighbour[found++] = &objects[i];
    CHECK_IS(found, NEIGHBOURS);
}

static void *wait_in_vain(void *unused)
{
    struct timespec past = {1, 0};
    OK(pthread_mutex_lock(&mutex));
    while (!stop)
        CHECK_IS(pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static bool is_before(const struct timespec *limit)
{
    struct timespec now = in_ms(CLOCK_MONOTONIC, 0);
    return now.tv_sec != limit->tv_sec ? now.tv_sec < limit->tv_sec : now.tv_nsec < limit->tv_nsec;
}

/* As often as it can be done in a while, and at any point of a wait. */
static void interrupt_waits(void (*handler)(int), void (*between)(void))
{
    struct timespec limit = in_ms(CLOCK_MONOTONIC, 300);
    find_neighbours();
    struct sigaction action = {.sa_handler = handler};
    OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t t = spawn(wait_in_vain, NULL);
    for (int i = 0; is_before(&limit); i++) {
        int before = handled;
        for (volatile int k = 0; k < i % 997; k++)
            ;
        OK(pthread_kill(t, SIGUSR1));
        while (*(volatile int *)&handled == before)
            sched_yield();
        if (between != NULL)
            between();
    }
    stop = true;
    join(t);
}

static pthread_mutex_t guards[NEIGHBOURS];
static int go[NEIGHBOURS], broadcasts[NEIGHBOURS];

/* Every other one is for a broadcast, which lets each of its waiters go once. */
static bool is_broadcast(int i)
{
    return i % 2 != 0;
}

static void *wait_for_go(void *argument)
{
    int i = (int)(intptr_t)argument, seen = 0;
    OK(pthread_mutex_lock(&guards[i]));
    for (;;) {
        while (go[i] == 0 || (go[i] > 0 && is_broadcast(i) && broadcasts[i] == seen))
            OK(pthread_cond_wait(&neighbour[i]->cond, &guards[i]));
        if (go[i] < 0)
            break;
        go[i]--;
        seen = broadcasts[i];
    }
    OK(pthread_mutex_unlock(&guards[i]));
    return NULL;
}

static void send_all(int unused)
{
    (void)unused;
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (pthread_mutex_trylock(&guards[i]) != 0)
            continue; /* its owner may need what the interrupted thread has */
        go[i] += WAITERS;
        broadcasts[i]++;
        if (is_broadcast(i))
            OK(pthread_cond_broadcast(&neighbour[i]->cond));
        for (int k = 0; k < WAITERS && !is_broadcast(i); k++)
            OK(pthread_cond_signal(&neighbour[i]->cond));
        OK(pthread_mutex_unlock(&guards[i]));
    }
    handled++;
}

static void await_all(void)
{
    for (int i = 0; i < NEIGHBOURS; i++)
        for (bool done = false; !done;) {
            OK(pthread_mutex_lock(&guards[i]));
            done = go[i] == 0;
            OK(pthread_mutex_unlock(&guards[i]));
            if (!done)
                sched_yield();
        }
}

static void every_signal_of_a_handler_arrives(void)
{
    find_neighbours();
    pthread_t t[NEIGHBOURS * WAITERS];
    for (int i = 0; i < NEIGHBOURS * WAITERS; i++)
        t[i] = spawn(wait_for_go, (void *)(intptr_t)(i % NEIGHBOURS));
    interrupt_waits(send_all, await_all);
    for (int i = 0; i < NEIGHBOURS; i++) {
        OK(pthread_mutex_lock(&guards[i]));
        go[i] = -1;
        OK(pthread_cond_broadcast(&neighbour[i]->cond));
        OK(pthread_mutex_unlock(&guards[i]));
    }
    for (int i = 0; i < NEIGHBOURS * WAITERS; i++)
        join(t[i]);
}

static void lock_neighbour(int unused)
{
    (void)unused;
    OK(pthread_mutex_lock(&neighbour[0]->mutex));
    handled++;
    OK(pthread_mutex_unlock(&neighbour[0]->mutex));
}

static void *hammer_neighbour(void *unused)
{
    while (!stop) {
        OK(pthread_mutex_lock(&neighbour[0]->mutex));
        for (volatile int i = 0; i < 3000; i++) /* so that a handler has to wait for it */
            ;
        OK(pthread_mutex_unlock(&neighbour[0]->mutex));
        for (volatile int i = 0; i < 300; i++)
            ;
    }
    return unused;
}

static void a_handler_may_wait_for_another_mutex(void)
{
    find_neighbours();
    pthread_t t = spawn(hammer_neighbour, NULL);
    interrupt_waits(lock_neighbour, NULL);
    join(t);
}

static void wait_a_while(int unused)
{
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, 0);
    OK(pthread_mutex_lock(&others));
    int result = pthread_cond_timedwait(&neighbour[0]->cond, &others, &soon);
    CHECK(result == 0 || result == ETIMEDOUT);
    OK(pthread_mutex_unlock(&others));
    handled++;
}

static void a_handler_may_wait_for_another_condvar(void)
{
    interrupt_waits(wait_a_while, NULL);
}

/* More than a thread has queue nodes for: it takes them from the process, and gives them back. */
static void lock_many(pthread_mutex_t *m, int n)
{
    for (int i = 0; i < n; i++)
        OK(pthread_mutex_lock(&m[i]));
    for (int i = 0; i < n; i++)
        OK(pthread_mutex_unlock(&m[i]));
}

static void lock_some(int unused)
{
    (void)unused;
    static pthread_mutex_t some[5];
    lock_many(some, 5);
    handled++;
}

static void a_handler_may_hold_many_mutexes(void)
{
    static pthread_mutex_t many[80];
    struct sigaction action = {.sa_handler = lock_some};
    struct itimerval often = {.it_interval = {.tv_usec = 50}, .it_value = {.tv_usec = 50}}, never = {0};
    OK(sigaction(SIGALRM, &action, NULL));
    OK(setitimer(ITIMER_REAL, &often, NULL));
    while (*(volatile int *)&handled < 3000)
        lock_many(many, 80);
    OK(setitimer(ITIMER_REAL, &never, NULL));
}

const test_case signal_cases[] = {CASE(a_handler_may_lock_another_mutex),
                                  CASE(a_handler_may_try_the_same_mutex),
                                  CASE(a_handler_may_unlock_what_its_thread_holds),
                                  CASE(a_handler_in_a_wait_leaves_nothing_behind),
                                  BEYOND(a_handler_may_signal_the_same_condvar),
                                  CASE(every_signal_of_a_handler_arrives),
                                  CASE(a_handler_may_wait_for_another_mutex),
                                  CASE(a_handler_may_wait_for_another_condvar),
                                  CASE(a_handler_may_hold_many_mutexes),
                                  {0}};
