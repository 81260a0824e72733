/* beside.c - starts and ends the load beside a measurement
 *
 * Another process, so that what it uses is no part of what the measured threads use.
 */
#include "beside.h"

#include "../src/park/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *spin(void *unused)
{
    (void)unused;
    for (;;)
        __asm__ volatile("");
    return NULL;
}

static _Noreturn void be_busy(pid_t parent, unsigned threads)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    close(STDIN_FILENO); /* the pipes of the one that answers */
    close(STDOUT_FILENO);
    pthread_t thread;
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&thread, NULL, spin, NULL) != 0)
            _exit(1);
    spin(NULL);
    _exit(1);
}

int bench_beside_start(bench_beside *b, unsigned threads)
{
    *b = (bench_beside){.process = 0};
    if (threads == 0)
        return 0;
    pid_t self = getpid(), child = fork();
    if (child == 0)
        be_busy(self, threads);
    if (child < 0)
        return errno;
    b->process = child;
    return clock_getcpuclockid(child, &b->cpu_time);
}

int bench_beside_stop(bench_beside *b)
{
    pid_t process = b->process;
    b->process = 0;
    if (process == 0)
        return 0;
    if (waitpid(process, NULL, WNOHANG) != 0) /* as when it could not have so many threads */
        return EAGAIN;
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

double bench_beside_ns(const bench_beside *b)
{
    return b->process != 0 ? (double)pawl_nanoseconds(b->cpu_time) : 0;
}
