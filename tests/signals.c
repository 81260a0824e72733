/* signals.c - no signal handler runs while the library holds a lock of its own, inside libpawl-<lock>.so */
#include "harness.h"

#include "../src/nodes.c"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANCELLATION = 32 }; /* glibc's own signal, which its functions do not show */

static volatile sig_atomic_t came;

static void note(int number)
{
    (void)number;
    came++;
}

static uint64_t mask(void)
{
    uint64_t now = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
    return now;
}

static void check_between(void (*begin)(void), void (*end)(void))
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL);
    signal(SIGUSR1, note);
    uint64_t before = mask();
    for (int i = 1; i <= 2; i++) {
        begin();
        raise(SIGUSR1);
        CHECK(came == i - 1, "a handler runs");
        CHECK(mask() >> (CANCELLATION - 1) & 1, "it may be cancelled");
        end();
        CHECK(came == i, "the signal is lost");
        CHECK(mask() == before, "other signals are blocked than before");
    }
}

static void signals_are_held_back(const lock_info *unused)
{
    (void)unused;
    check_between(pawl_signals_block, pawl_signals_restore);
}

static void the_pool_of_nodes_holds_them_back(const lock_info *unused)
{
    (void)unused;
    check_between(pool_lock, pool_unlock);
}

#define SIGNALS(check_)                                                                                      \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "signals"                                               \
    }

static const promise promises[] = {SIGNALS(signals_are_held_back),
                                   SIGNALS(the_pool_of_nodes_holds_them_back)};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
