/* crash.c - a wild pointer is a failure of the code under test, not of the lab
 *
 * If an order is too weak, a thread may read an old link and follow it to nowhere. That is a violation with a trace
 * like any other. The handler leaves the fiber for good, from a stack of its own.
 */
#include "machine.h"
#include "model.h"

#include <signal.h>
#include <ucontext.h>

static void crashed(int signal_number, siginfo_t *info, void *context)
{
    if (!lab_current) {
        signal(signal_number, SIG_DFL); /* not ours: let it happen again */
        return;
    }
    lab_violation(LAB_CRASH, "access to memory that is not there", (uintptr_t)info->si_addr,
                  lab_interrupted_at(context), NULL);
}

void lab_catch_crashes(void)
{
    static char stack[64 * 1024];
    static bool done;
    if (done)
        return;
    done = true;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
