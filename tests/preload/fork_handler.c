/* fork_handler.c - handlers around fork, and fork in a signal handler */
#include "early.h"
#include "fork.h"

#include <signal.h>

/* ---- handlers, as an allocator has them */

enum { ARENAS = 194 };
static pthread_mutex_t arena[ARENAS];
static _Atomic(bool) arenas_in_use;
static bool reinitialises;

static void lock_arenas(void)
{
    if (arenas_in_use)
        for (int i = 0; i < ARENAS; i++)
            OK(pthread_mutex_lock(&arena[i]));
}

static void unlock_arenas(void)
{
    if (arenas_in_use)
        for (int i = 0; i < ARENAS; i++)
            OK(pthread_mutex_unlock(&arena[i]));
}

static void renew_arenas(void)
{
    if (!reinitialises) {
        unlock_arenas();
        return;
    }
    for (int i = 0; i < ARENAS; i++)
        OK(pthread_mutex_init(&arena[i], NULL));
}

static void *use_arenas(void *argument)
{
    scene *s = argument;
    for (unsigned i = 0; !s->stop; i = (i * 7 + 1) % ARENAS) {
        OK(pthread_mutex_lock(&arena[i]));
        s->entered++;
        OK(pthread_mutex_unlock(&arena[i]));
    }
    return NULL;
}

static void handlers_lock_194_mutexes_around_fork(void)
{
    static scene s;
    pthread_t t[3];
    OK(pthread_atfork(lock_arenas, unlock_arenas, renew_arenas));
    arenas_in_use = true;
    for (int i = 0; i < 3; i++)
        t[i] = spawn(use_arenas, &s);
    for (int i = 0; i < 30; i++) {
        reinitialises = i % 2 != 0;
        int child = fork();
        if (child == 0) {
            for (int k = 0; k < ARENAS; k++) {
                OK(pthread_mutex_lock(&arena[k]));
                CHECK_IS(pthread_mutex_trylock(&arena[k]), EBUSY);
                OK(pthread_mutex_unlock(&arena[k]));
            }
            _exit(0);
        }
        OK(child_status(child));
    }
    s.stop = true;
    for (int i = 0; i < 3; i++)
        join(t[i]);
}

/* early.c has registered its handlers before the library could. */
static void an_earlier_handler_may_unlock(void)
{
    for (int i = 0; i < 5; i++) {
        int child = fork();
        if (child == 0) {
            CHECK_IS(early_forks_prepared, i + 1);
            CHECK_IS(early_forks_seen, 1);
            _exit(0);
        }
        OK(child_status(child));
    }
}

static void an_earlier_handler_may_start_a_thread(void)
{
    early_start_threads();
    for (int i = 0; i < 5; i++) {
        int child = fork();
        if (child == 0) {
            early_end_thread();
            _exit(0);
        }
        OK(child_status(child));
    }
}

/* ---- their order */

static char steps[16];
static pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;

static void step(char c)
{
    size_t length = strlen(steps);
    CHECK(length + 1 < sizeof steps);
    steps[length] = c;
}

static void unlock_first_parent(void)
{
    OK(pthread_mutex_unlock(&around));
    step('3');
}

static void unlock_first_child(void)
{
    OK(pthread_mutex_unlock(&around));
    step('5');
}

static void lock_last(void)
{
    step('2');
    OK(pthread_mutex_lock(&around));
}

static void prepare_first(void)
{
    step('1');
}

static void parent_last(void)
{
    step('4');
    OK(try_elsewhere(&around));
}

static void child_last(void)
{
    step('6');
    OK(try_elsewhere(&around));
}

/* Prepare handlers run in reverse order of registration, the others in order. */
static void handlers_run_in_their_order(void)
{
    OK(pthread_atfork(lock_last, unlock_first_parent, unlock_first_child));
    OK(pthread_atfork(NULL, NULL, NULL));
    OK(pthread_atfork(prepare_first, parent_last, child_last));
    for (int i = 0; i < 3; i++) {
        memset(steps, 0, sizeof steps);
        int child = fork();
        if (child == 0) {
            CHECK_IS(strcmp(steps, "1256"), 0);
            _exit(0);
        }
        CHECK_IS(strcmp(steps, "1234"), 0);
        OK(child_status(child));
    }
}

static void count_a_step(void)
{
    OK(pthread_mutex_lock(&around));
    step('x');
    OK(pthread_mutex_unlock(&around));
}

static void register_another(void)
{
    static bool done;
    if (!done)
        OK(pthread_atfork(count_a_step, NULL, NULL));
    done = true;
}

static void a_handler_may_register_another(void)
{
    OK(pthread_atfork(register_another, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        int child = fork();
        if (child == 0)
            _exit(0);
        OK(child_status(child));
    }
    CHECK_IS(strcmp(steps, "xx"), 0); /* from the second fork on */
}

/* ---- in a signal handler */

static volatile int forked;

static void fork_in_handler(int unused)
{
    (void)unused;
    forked = fork();
}

static void *hold_and_interrupt(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    while (!((volatile scene *)s)->waiting)
        pause_ms(1);
    await_asleep(getpid());
    OK(kill(getpid(), SIGUSR1)); /* for the thread that does not block it */
    while (!s->stop)
        pause_ms(1);
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void wait_until_late(pthread_mutex_t *m, bool on_a_condvar)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec later = in_ms(CLOCK_REALTIME, 40);
    if (!on_a_condvar) {
        CHECK_IS(pthread_mutex_timedlock(m, &later), ETIMEDOUT);
        return;
    }
    int result;
    OK(pthread_mutex_lock(&own));
    while ((result = pthread_cond_timedwait(&cond, &own, &later)) == 0)
        ;
    CHECK_IS(result, ETIMEDOUT);
    OK(pthread_mutex_unlock(&own));
}

/* Parent and child return from the handler, into the wait. */
static void a_child_of_a_handler_goes_on_waiting(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler};
    sigset_t all, before;
    sigfillset(&all);
    OK(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 6; i++) {
        static scene s;
        memset(&s, 0, sizeof s);
        forked = -1;
        OK(pthread_sigmask(SIG_BLOCK, &all, &before));
        pthread_t t = spawn(hold_and_interrupt, &s);
        OK(pthread_sigmask(SIG_SETMASK, &before, NULL));
        while (s.tid == 0)
            pause_ms(1);
        s.waiting = 1;
        while (forked < 0) /* it may be late before the other thread runs */
            wait_until_late(&s.mutex, i % 2 != 0);
        if (forked == 0) {
            wait_until_late(&s.mutex, true);
            _exit(0);
        }
        OK(child_status(forked));
        s.stop = true;
        join(t);
    }
}

static pthread_mutex_t news = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told_of = PTHREAD_COND_INITIALIZER;
static int told, listening;

static void *tell(void *unused)
{
    OK(pthread_mutex_lock(&news));
    told = 1;
    OK(pthread_cond_signal(&told_of));
    OK(pthread_mutex_unlock(&news));
    return unused;
}

static void fork_and_tell_the_child(int unused)
{
    (void)unused;
    int child = fork();
    if (child == 0)
        spawn(tell, NULL);
    forked = child;
}

static void *interrupt_and_tell(void *unused)
{
    for (bool listens = false; !listens; pause_ms(1)) {
        OK(pthread_mutex_lock(&news));
        listens = listening;
        OK(pthread_mutex_unlock(&news));
    }
    await_asleep(getpid());
    OK(kill(getpid(), SIGUSR1));
    while (forked < 0)
        pause_ms(1);
    return tell(unused);
}

/* The child's thread goes on waiting, without a deadline, and a signal of the child's reaches it. */
static void a_child_of_a_handler_is_woken(void)
{
    struct sigaction action = {.sa_handler = fork_and_tell_the_child};
    sigset_t all, before;
    sigfillset(&all);
    OK(sigaction(SIGUSR1, &action, NULL));
    for (int i = 0; i < 3; i++) {
        told = listening = 0;
        forked = -1;
        OK(pthread_sigmask(SIG_BLOCK, &all, &before));
        pthread_t t = spawn(interrupt_and_tell, NULL);
        OK(pthread_sigmask(SIG_SETMASK, &before, NULL));
        OK(pthread_mutex_lock(&news));
        listening = 1;
        while (!told)
            OK(pthread_cond_wait(&told_of, &news));
        OK(pthread_mutex_unlock(&news));
        if (forked == 0)
            _exit(0);
        OK(child_status(forked));
        join(t);
    }
}

const test_case fork_handler_cases[] = {
    CASE(handlers_lock_194_mutexes_around_fork), CASE(handlers_run_in_their_order),
    CASE(a_handler_may_register_another),        CASE(an_earlier_handler_may_unlock),
    CASE(an_earlier_handler_may_start_a_thread), CASE(a_child_of_a_handler_goes_on_waiting),
    CASE(a_child_of_a_handler_is_woken),         {0}};
