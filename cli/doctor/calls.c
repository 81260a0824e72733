/* calls.c - tries system calls where a seccomp filter that kills for them does no harm: in a child */
#include "doctor.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* So a child can say every errno value in an exit status. */
_Static_assert(EHWPOISON < 256, "errno values in a byte");

int try_call(long number, long a, long b, long c, long d, long e)
{
    pid_t child = fork();
    if (child == 0)
        _exit(syscall(number, a, b, c, d, e, 0) >= 0 ? 0 : errno);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return CALL_NOT_TRIED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : CALL_KILLS;
}

const char *call_outcome(int outcome)
{
    return outcome == CALL_WORKS       ? "works"
           : outcome == CALL_KILLS     ? "a filter kills for it"
           : outcome == CALL_NOT_TRIED ? "not tried: no process can be started"
                                       : strerror(outcome);
}
