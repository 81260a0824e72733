/* forked.c - a thread waits for a condition variable; a signal handler forks with _Fork(), which runs no other handlers;
 * in the child that wait is cancelled, in the parent it goes on; then SIGKILL comes
 *
 * Exit status 4: there is no _Fork() here.
 */
#include "asleep.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t _Fork(void) __attribute__((weak)); /* glibc 2.34 */

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pid_t waiter, child;

static void end_child(void *unused)
{
    (void)unused;
    _exit(0);
}

static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cleanup_push(end_child, NULL);
    for (;;)
        pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void fork_and_cancel(int number)
{
    (void)number;
    pid_t pid = _Fork();
    if (pid == 0)
        pthread_cancel(pthread_self());
    else
        __atomic_store_n(&child, pid, __ATOMIC_RELEASE);
}

int main(void)
{
    pthread_t thread;
    int status = 1;
    if (_Fork == NULL)
        return 4;
    struct sigaction action = {.sa_handler = fork_and_cancel};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0 || !is_asleep(waiter))
        nap(1);
    pthread_kill(thread, SIGUSR1);
    while (__atomic_load_n(&child, __ATOMIC_ACQUIRE) == 0)
        nap(1);
    if (waitpid(child, &status, 0) != child || status != 0)
        return 5;
    while (!is_asleep(waiter))
        nap(1);
    kill(getpid(), SIGKILL);
}
