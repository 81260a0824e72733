/* wait.c - the waiting policy of the process */
#include <pawl/wait.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(int) policy = PAWL_WAIT_YIELD;

bool pawl_set_wait(pawl_policy p)
{
    if (p != PAWL_WAIT_SPIN && p != PAWL_WAIT_YIELD)
        return false;
    atomic_store_explicit(&policy, p, memory_order_relaxed);
    return true;
}

pawl_policy pawl_get_wait(void)
{
    return (pawl_policy)atomic_load_explicit(&policy, memory_order_relaxed);
}

void pawl_wait_turn(void)
{
    if (pawl_get_wait() == PAWL_WAIT_YIELD)
        sched_yield();
}

/* An unknown value keeps the default: a library has nobody to complain to. `pawl` checks it for its user. */
__attribute__((constructor)) static void policy_from_environment(void)
{
    const char *name = getenv("PAWL_WAIT");
    if (name == NULL)
        return;
    if (strcmp(name, "spin") == 0)
        pawl_set_wait(PAWL_WAIT_SPIN);
    else if (strcmp(name, "yield") == 0)
        pawl_set_wait(PAWL_WAIT_YIELD);
}
