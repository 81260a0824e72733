/* fork_instant.c - a signal handler that forks between any two instructions of a call: parent and child go on with it */
#include "case.h"
#include "../step.h"

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

const test_case fork_instant_cases[] = {CASE(a_handler_may_fork_at_any_instruction),
                                        BEYOND(a_handler_may_fork_at_any_instruction_of_a_recursive_mutex),
                                        BEYOND(a_handler_may_fork_at_any_instruction_of_a_checked_mutex),
                                        {0}};
