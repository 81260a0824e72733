/* interrupted.c - a thread waits for a semaphore that nobody posts, and a signal handler comes again and again: interrupted HOW
 *
 *   ended      the handler ends the wait; the thread does something else for a while, and waits again
 *   restarted  the wait goes on after the handler, which wakes nobody by futex()
 *   waiting    the same, and the handler waits for another semaphore, until a deadline
 *   jumped     the handler jumps out of the wait; the thread does something else for a while, and waits again
 */
#include "asleep.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

sem_t never, also_never;
static const char *how = "";
static pid_t waiter;
static sigjmp_buf again;

static void handle(int signal)
{
    static uint32_t word;
    (void)signal;
    if (strcmp(how, "restarted") == 0)
        syscall(SYS_futex, &word, FUTEX_WAKE, 1);
    if (strcmp(how, "jumped") == 0)
        siglongjmp(again, 1);
    if (strcmp(how, "waiting") == 0) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 5000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        sem_timedwait(&also_never, &soon);
    }
}

static void *wait_again_and_again(void *argument)
{
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) {
        if (sigsetjmp(again, 1) == 0)
            sem_wait(&never);
        nap(5);
    }
    return argument;
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : how;
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle, .sa_flags = strcmp(how, "ended") != 0 ? SA_RESTART : 0};
    sigaction(SIGUSR2, &action, NULL);
    sem_init(&never, 0, 0);
    sem_init(&also_never, 0, 0);
    pthread_create(&thread, NULL, wait_again_and_again, NULL);
    for (;;) {
        pid_t there;
        while ((there = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(there))
            nap(1);
        nap(10);
        pthread_kill(thread, SIGUSR2);
    }
}
