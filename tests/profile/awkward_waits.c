/* awkward_waits.c - cases of awkward.c: waits that are easily counted wrong */
#include "awkward.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- late */

static void *want_in_vain(void *argument)
{
    for (int i = 0; i < 4; i++) {
        struct timespec soon = in_ms(10);
        if (pthread_mutex_timedlock(&mutex, &soon) == 0) /* IN_VAIN */
            exit(3);
    }
    return argument;
}

static void *signal_once(void *argument)
{
    await_waiter();
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed); /* SIGNAL */
    pthread_mutex_unlock(&mutex);
    return argument;
}

void be_late(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex); /* HOLDER */
    join_one(want_in_vain);
    pthread_mutex_unlock(&mutex);
    pthread_create(&other, NULL, signal_once, NULL);
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&changed, &mutex); /* WOKEN */
    for (int i = 0; i < 2; i++) {
        struct timespec soon = in_ms(10);
        pthread_cond_timedwait(&changed, &mutex, &soon); /* LATE */
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

/* ---- sudden */

static void *want_it(void *argument)
{
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&mutex); /* FIRST_WAIT */
    pthread_mutex_unlock(&mutex);
    return argument;
}

void hold_suddenly(void)
{
    pthread_t other;
    use(&mutex, 100);
    pthread_mutex_lock(&mutex); /* SUDDEN */
    pthread_create(&other, NULL, want_it, NULL);
    await_waiter();
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

/* ---- orphan */

static bool held;

static void *hold_for_ever(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&held, true, __ATOMIC_RELEASE);
    for (;;)
        pause();
    return argument;
}

void leave_an_orphan(bool stays, bool only)
{
    pthread_t other;
    pthread_create(&other, NULL, hold_for_ever, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        nap(1);
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        if (!only)
            try_in_vain();
        for (int i = 0; i < 3 && !only; i++) {
            struct timespec soon = in_ms(10);
            if (pthread_mutex_timedlock(&mutex, &soon) != ETIMEDOUT) /* ORPHAN */
                exit(3);
        }
        if (write(ends[1], &byte, 1) != 1)
            exit(4);
        pthread_mutex_lock(&mutex); /* FOR_EVER */
        exit(3);
    }
    if (read(ends[0], &byte, 1) != 1)
        exit(4);
    while (!is_asleep(child))
        nap(1);
    if (!stays)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- heir, sliced, overdue */

static void do_nothing(int signal)
{
    (void)signal;
}

void inherit(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex);
    pid_t child = fork();
    if (child > 0) {
        int status = 1;
        waitpid(child, &status, 0);
        exit(status != 0 ? 3 : 0);
    }
    signal(SIGUSR1, do_nothing);
    pthread_create(&other, NULL, want_it, NULL);
    for (int i = 0; i < 2; i++) {
        await_waiter();
        nap(30);
        pthread_kill(other, SIGUSR1);
    }
    await_waiter();
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void *want_it_cancelable(void *argument)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return want_it(argument);
}

void wait_in_slices(void)
{
    pthread_t other;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        waiter = 0;
        pthread_mutex_lock(&mutex);
        pthread_create(&other, NULL, want_it_cancelable, NULL);
        await_waiter();
        nap(cancelled ? 1 : 200);
        if (cancelled)
            pthread_cancel(other);
        else
            pthread_mutex_unlock(&mutex);
        pthread_join(other, NULL);
    }
    pthread_mutex_unlock(&mutex);
}

static void *want_it_briefly(void *argument)
{
    struct timespec soon;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += (soon.tv_nsec += 30000000) / 1000000000;
    soon.tv_nsec %= 1000000000;
    pthread_mutex_timedlock(&mutex, &soon);
    return argument;
}

void wait_in_slices_in_vain(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex);
    pthread_create(&other, NULL, want_it_briefly, NULL);
    pthread_join(other, NULL);
    pthread_mutex_unlock(&mutex);
}

/* ---- woken, c11 */

static void *wait_for_signal(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&changed, &mutex); /* WAITER */
    pthread_mutex_unlock(&mutex);
    return argument;
}

void wake_and_keep(void)
{
    pthread_t other;
    pthread_create(&other, NULL, wait_for_signal, NULL);
    await_waiter();
    pthread_mutex_lock(&mutex);    /* KEEPER */
    pthread_cond_signal(&changed); /* WAKER */
    await_wait_for(&mutex);
    if (waiting_for(&changed) != 0)
        exit(3);
    nap(10);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static mtx_t c11_mutex;
static cnd_t c11_changed;

static void *use_c11(void *argument)
{
    mtx_lock(&c11_mutex); /* C11_LOCK */
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    cnd_wait(&c11_changed, &c11_mutex); /* C11_WAIT */
    mtx_unlock(&c11_mutex);
    return argument;
}

void wake_c11(void)
{
    pthread_t other;
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_changed);
    mtx_lock(&c11_mutex); /* C11_FIRST */
    pthread_create(&other, NULL, use_c11, NULL);
    await_wait_for(&c11_mutex);
    mtx_unlock(&c11_mutex);
    await_waiter();
    while (mtx_trylock(&c11_mutex) != thrd_success) /* C11_TRY */
        nap(1);
    cnd_broadcast(&c11_changed); /* C11_SIGNAL */
    await_wait_for(&c11_mutex);
    mtx_unlock(&c11_mutex);
    pthread_join(other, NULL);
}

/* ---- buried */

static void *want_buried(void *argument)
{
    pthread_mutex_lock(&mutex); /* BURIED_WAITER */
    pthread_mutex_unlock(&mutex);
    return argument;
}

void bury(int number)
{
    pthread_t other;
    pthread_mutex_t *others = calloc((size_t)number, sizeof *others);
    for (int i = 0; i < number; i++)
        use(&others[i], 1);
    pthread_mutex_lock(&mutex); /* BURIED_HOLDER */
    pthread_create(&other, NULL, want_buried, NULL);
    await_wait_for(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}
