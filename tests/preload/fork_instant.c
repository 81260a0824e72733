/* fork_instant.c - a signal handler that forks between any two instructions of a call: parent and child go on with it */
#include "case.h"
#include "../step.h"

#include <sys/auxv.h>

static pthread_mutex_t mutex;
static int relocks;
static bool in_child;

/* Not contended. */
static void use_it(void *unused)
{
    (void)unused;
    struct timespec late = {INT32_MAX, 0};
    OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < relocks; i++)
        OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < relocks; i++)
        OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_trylock(&mutex));
    CHECK_IS(pthread_mutex_destroy(&mutex), EBUSY);
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_timedlock(&mutex, &late));
    OK(pthread_mutex_unlock(&mutex));
}

static bool fork_here(int instruction)
{
    (void)instruction;
    int child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(100);
        in_child = true;
        return false;
    }
    OK(child_status(child));
    return true;
}

static void fork_at_every_instruction(int type)
{
    if (!step_possible())
        skip("cannot step here");
    make_mutex(&mutex, type);
    relocks = type == PTHREAD_MUTEX_RECURSIVE ? 2 : 0;
    use_it(NULL); /* the dynamic linker's part, and the first use */
    step_through(use_it, NULL, fork_here);
    for (int i = 0; i < 3; i++) {
        use_it(NULL);
        OK(try_elsewhere(&mutex));
    }
    if (in_child)
        _exit(0);
}

static void a_handler_may_fork_at_any_instruction(void)
{
    fork_at_every_instruction(PTHREAD_MUTEX_NORMAL);
}

static void a_handler_may_fork_at_any_instruction_of_a_recursive_mutex(void)
{
    fork_at_every_instruction(PTHREAD_MUTEX_RECURSIVE);
}

static void a_handler_may_fork_at_any_instruction_of_a_checked_mutex(void)
{
    fork_at_every_instruction(PTHREAD_MUTEX_ERRORCHECK);
}

/* ---- condition variables */

static pthread_mutex_t news = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int listeners, told;

static void *listen_in(void *unused)
{
    OK(pthread_mutex_lock(&news));
    listeners++;
    while (!told)
        OK(pthread_cond_wait(&cond, &news));
    OK(pthread_mutex_unlock(&news));
    return unused;
}

static void start_listeners(pthread_t *t, int n)
{
    int there = 0;
    listeners = told = 0;
    for (int i = 0; i < n; i++)
        t[i] = spawn(listen_in, NULL);
    for (; there < n; pause_ms(1)) {
        OK(pthread_mutex_lock(&news));
        there = listeners;
        OK(pthread_mutex_unlock(&news));
    }
}

static void tell_listeners(pthread_t *t, int n)
{
    OK(pthread_mutex_lock(&news));
    told = 1;
    OK(pthread_cond_broadcast(&cond));
    OK(pthread_mutex_unlock(&news));
    for (int i = 0; i < n; i++)
        join(t[i]);
}

/* Not every one, which would take long. Not in the kernel's page: it reads the clock again if much time has passed. */
static bool fork_now_and_then(int instruction)
{
    enum { EVERY = 5, KERNELS = 16384 };
    uintptr_t at = (uintptr_t)step_counter(), kernels = getauxval(AT_SYSINFO_EHDR);
    return instruction % EVERY != 0 || at - kernels < KERNELS || fork_here(instruction);
}

static void signal_listeners(void *unused)
{
    (void)unused;
    OK(pthread_cond_signal(&cond));
}

static void broadcast_to_listeners(void *unused)
{
    (void)unused;
    OK(pthread_cond_broadcast(&cond));
}

static void wait_for_nobody(void *unused)
{
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, 0);
    int result = pthread_cond_timedwait(&cond, &news, &soon);
    CHECK(result == ETIMEDOUT || (in_child && result == 0));
}

/* With so many that wait. In the child they don't exist, and cond and mutex work. */
static void fork_at_instructions_of(void (*call)(void *), int waiting)
{
    enum { MOST = 2 };
    pthread_t t[MOST];
    if (!step_possible())
        skip("cannot step here");
    start_listeners(t, waiting);
    OK(pthread_mutex_lock(&news));
    step_through(call, NULL, fork_now_and_then);
    OK(pthread_mutex_unlock(&news));
    if (!in_child)
        tell_listeners(t, waiting);
    start_listeners(t, MOST);
    tell_listeners(t, MOST);
    if (in_child)
        _exit(0);
}

static void a_handler_may_fork_in_a_signal(void)
{
    fork_at_instructions_of(signal_listeners, 2);
}

static void a_handler_may_fork_in_a_broadcast(void)
{
    fork_at_instructions_of(broadcast_to_listeners, 2);
}

static void a_handler_may_fork_in_a_wait(void)
{
    fork_at_instructions_of(wait_for_nobody, 0);
}

const test_case fork_instant_cases[] = {CASE(a_handler_may_fork_at_any_instruction),
                                        BEYOND(a_handler_may_fork_at_any_instruction_of_a_recursive_mutex),
                                        BEYOND(a_handler_may_fork_at_any_instruction_of_a_checked_mutex),
                                        BEYOND(a_handler_may_fork_in_a_signal),
                                        BEYOND(a_handler_may_fork_in_a_broadcast),
                                        CASE(a_handler_may_fork_in_a_wait),
                                        {0}};
