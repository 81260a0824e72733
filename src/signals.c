/* signals.c - no signal handler while a lock of the library's own is held */
#include "signals.h"

#ifdef PAWL_IN_PTHREAD_MUTEX

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread uint64_t before __attribute__((tls_model("initial-exec")));

/* Not pthread_sigmask(), which leaves glibc's cancellation signal unblocked. */
static void set_mask(const uint64_t *to, uint64_t *from)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, to, from, sizeof *to);
}

void pawl_signals_block(void)
{
    static const uint64_t all = UINT64_MAX;
    uint64_t was;
    set_mask(&all, &was);
    before = was;
}

void pawl_signals_restore(void)
{
    uint64_t was = before;
    set_mask(&was, NULL);
}

#else
typedef int nothing_to_do;
#endif
