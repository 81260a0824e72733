/* signals.c - no signal handler while a lock of the library's own is held */
#include "signals.h"

#ifdef __linux__

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not pthread_sigmask(), which leaves glibc's cancellation signal unblocked. */
uint64_t pawl_signals_swap(uint64_t mask)
{
    int error = errno;
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
    errno = error;
    return before;
}

#endif

#ifdef PAWL_IN_PTHREAD_MUTEX

static __thread uint64_t before __attribute__((tls_model("initial-exec")));

void pawl_signals_block(void)
{
    uint64_t was = pawl_signals_swap(UINT64_MAX);
    before = was;
}

void pawl_signals_restore(void)
{
    pawl_signals_swap(before);
}

#else
typedef int nothing_to_do;
#endif
