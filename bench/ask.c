/* ask.c - starts a measuring process, hands it the request, and reads its answer
 *
 * A new program image, not just a fork: where stacks, heap and code lie differs from process to process, and so does
 * what aliases in the caches. Runs that shared all that would agree more than they should.
 */
#include "ask.h"

#include <pawl/detail/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_START = 127 };

static _Noreturn void become(const bench_place *place, const bench_request *q, pid_t parent, int in, int out)
{
    static const char *const policies[] = {
        [PAWL_WAIT_SPIN] = "spin", [PAWL_WAIT_YIELD] = "yield", [PAWL_WAIT_PARK] = "park"};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* an interrupted measurement leaves nobody behind */
    if (getppid() != parent)
        _exit(CANNOT_START);
    if (in == STDIN_FILENO) /* it was closed, and the pipe got its number */
        fcntl(in, F_SETFD, 0);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    setenv("PAWL_WAIT", policies[q->policy], 1); /* for an interposed lock */
    if (place->preload != NULL)
        setenv("LD_PRELOAD", place->preload, 1);
    const char *program = place->program != NULL ? place->program : "/proc/self/exe";
    char *const arguments[] = {"pawl", "bench", BENCH_ANSWER, NULL};
    execv(program, arguments);
    _exit(CANNOT_START);
}

static bool transfer(int fd, void *bytes, size_t size, ssize_t io(int fd, void *bytes, size_t size))
{
    char *at = bytes;
    while (size > 0) {
        ssize_t n = io(fd, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static ssize_t put(int fd, void *bytes, size_t size)
{
    return write(fd, bytes, size);
}

static bool read_answer(int fd, bench_run *run, bench_waits **waits)
{
    if (!transfer(fd, run, sizeof *run, read))
        return false;
    if (run->waits_of_threads == 0)
        return true;
    size_t size = run->waits_of_threads * sizeof **waits;
    *waits = malloc(size);
    return *waits != NULL && transfer(fd, *waits, size, read);
}

static int open_pipes(int down[2], int up[2])
{
    if (pipe2(down, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(up, O_CLOEXEC) == 0)
        return 0;
    int error = errno;
    close(down[0]);
    close(down[1]);
    return error;
}

bench_run bench_ask(const bench_request *q, const bench_place *place, bench_waits **waits)
{
    int down[2], up[2];
    bench_run run = {.error = open_pipes(down, up)};
    *waits = NULL;
    if (run.error != 0)
        return run;
    pid_t self = getpid(), child = fork();
    if (child == 0)
        become(place, q, self, down[0], up[1]);
    int error = errno, status = 0;
    close(down[0]);
    close(up[1]);
    bench_request request = *q;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* it may be gone before it was asked */
    bool answered =
        child > 0 && transfer(down[1], &request, sizeof request, put) && read_answer(up[0], &run, waits);
    signal(SIGPIPE, before);
    close(down[1]);
    close(up[0]);
    if (child < 0) {
        run.error = error;
        return run;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!answered)
        run.error = WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START ? BENCH_NO_PROGRAM : BENCH_DIED;
    return run;
}
