/* waiters.c - threads that wait for ever, or again and again: waiters KIND
 *
 *   cond   one waits for a condition variable, another signals it
 *   pi     two contend for a mutex with priority inheritance
 *   hung   two want a mutex that is never released
 *   leader    two contend, but the first thread is gone
 *   exec      one wants a mutex that is never released, until SIGUSR1 comes: then the program starts again and does nothing
 *   cancelled one waits for a condition variable, and is cancelled; it is signalled; another waits; then SIGKILL comes
 *   others    one waits for a condition variable until a deadline, and then for the mutex, which has another owner; one wants
 *             a spin lock, and gets it; one a process-shared mutex
 *   refused   one waits with a mutex that it does not have, which is glibc's; another for a condition variable of glibc's, and is
 *             cancelled
 *   hang      N want a mutex, and never get it; then SIGKILL comes
 *   deadlock  two have a mutex each and want the other's, and a third waits for a condition variable; then SIGKILL comes
 */
#include "asleep.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

__attribute__((noinline)) void sleeper(void)
{
    pthread_mutex_lock(&mutex);
    int seen = turn;
    while (turn == seen)
        pthread_cond_wait(&changed, &mutex); /* SLEEPER */
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) void waker(void)
{
    nap(1);
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed); /* WAKER */
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void owner(void)
{
    pthread_mutex_lock(&mutex); /* OWNER */
    nap(1);
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("" ::: "memory");
}

/* ---- deadlock */

static pthread_mutex_t apples = PTHREAD_MUTEX_INITIALIZER, pears = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static pid_t threads[3];

static void await_asleep(int who)
{
    pid_t thread;
    while ((thread = __atomic_load_n(&threads[who], __ATOMIC_ACQUIRE)) == 0 || !is_asleep(thread))
        nap(1);
}

static void set_out(int who)
{
    pthread_barrier_wait(&together);
    __atomic_store_n(&threads[who], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static void *eat_apples(void *argument)
{
    pthread_mutex_lock(&apples); /* APPLES_FIRST */
    set_out(0);
    pthread_mutex_lock(&pears); /* PEARS_SECOND */
    return argument;
}

static void *eat_pears(void *argument)
{
    pthread_mutex_lock(&pears); /* PEARS_FIRST */
    set_out(1);
    pthread_mutex_lock(&apples); /* APPLES_SECOND */
    return argument;
}

static void *eat_nothing(void *argument)
{
    set_out(2);
    sleeper();
    return argument;
}

static void deadlock(void)
{
    void *(*const all[])(void *) = {eat_apples, eat_pears, eat_nothing};
    pthread_t ids[3];
    pthread_barrier_init(&together, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, all[i], NULL);
    for (int i = 0; i < 3; i++)
        await_asleep(i);
    nap(10);
    kill(getpid(), SIGKILL);
}

/* ---- cancelled */

static void *wait_once(void *who)
{
    __atomic_store_n(&threads[(intptr_t)who], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    sleeper();
    return NULL;
}

static void cancel(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_once, (void *)0);
    await_asleep(0);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&mutex); /* it has left it locked */
    waker();
    pthread_create(&thread, NULL, wait_once, (void *)1);
    await_asleep(1);
    nap(10);
    kill(getpid(), SIGKILL);
}

/* ---- a wait that is none, and one that ends again and again */

static pthread_mutex_t checked;
static pthread_cond_t shared;

static void unlock(void *m)
{
    pthread_mutex_unlock(m);
}

static void *wait_briefly(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    for (;;) {
        pthread_cond_wait(&shared, &mutex); /* BRIEFLY */
        __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED);
    }
    pthread_cleanup_pop(0);
    return argument;
}

static void be_refused(void)
{
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_t thread;
    pthread_mutexattr_init(&m);
    pthread_mutexattr_settype(&m, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&checked, &m);
    if (pthread_cond_wait(&changed, &checked) != EPERM)
        exit(1);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared, &c);
    pthread_create(&thread, NULL, wait_briefly, NULL);
    while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < 2)
        nap(1);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    kill(getpid(), SIGKILL);
}

/* ---- waits of other kinds than in a call that locks a mutex of this process */

static void *wait_until_late(void *argument)
{
    struct timespec soon;
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&threads[0], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 10000000;
    soon.tv_sec += soon.tv_nsec / 1000000000;
    soon.tv_nsec %= 1000000000;
    while (pthread_cond_timedwait(&changed, &mutex, &soon) == 0)
        ;
    pthread_mutex_unlock(&mutex);
    return argument;
}

/* Waits for no lock itself. */
static void hold_until_late(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_until_late, NULL);
    while (__atomic_load_n(&threads[0], __ATOMIC_ACQUIRE) == 0 || pthread_mutex_trylock(&mutex) != 0)
        nap(1);
    nap(30);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static void *want(void *argument)
{
    __atomic_store_n(&threads[0], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static pthread_spinlock_t spin;

static void *want_spin(void *argument)
{
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return argument;
}

static void hold_spin(void)
{
    pthread_t thread;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&spin);
    pthread_create(&thread, NULL, want_spin, NULL);
    nap(30);
    pthread_spin_unlock(&spin);
    pthread_join(thread, NULL);
}

/* ---- hang */

static pid_t *wanting;

static void *want_for_ever(void *place)
{
    __atomic_store_n((pid_t *)place, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&mutex);
    return NULL;
}

static void hang(int count)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    wanting = calloc((size_t)count, sizeof *wanting);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, &small, want_for_ever, &wanting[i]) != 0)
            exit(4);
    for (int i = 0; i < count; i++)
        while (__atomic_load_n(&wanting[i], __ATOMIC_ACQUIRE) == 0 || !is_asleep(wanting[i]))
            nap(1);
    kill(getpid(), SIGKILL);
}

static void hold_shared(void)
{
    threads[0] = 0;
    pthread_mutexattr_t shared;
    pthread_t thread;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&mutex, &shared);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, want, NULL);
    await_asleep(0);
    nap(10);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static void start_again(int signal)
{
    (void)signal;
    execl("/proc/self/exe", "waiters", "nothing", NULL);
}

static void *repeat(void *function)
{
    for (;;)
        (*(void (**)(void))function)();
    return NULL;
}

int main(int argc, char **argv)
{
    static void (*first)(void) = owner, (*second)(void) = owner;
    const char *kind = argc > 1 ? argv[1] : "";
    pthread_mutexattr_t inherit;
    pthread_t other;
    if (strcmp(kind, "cond") == 0)
        first = sleeper, second = waker;
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    if (strcmp(kind, "pi") == 0)
        pthread_mutex_init(&mutex, &inherit);
    if (strcmp(kind, "hung") == 0 || strcmp(kind, "exec") == 0)
        pthread_mutex_lock(&mutex);
    signal(SIGUSR1, start_again);
    while (strcmp(kind, "nothing") == 0)
        pause();
    if (strcmp(kind, "deadlock") == 0)
        deadlock();
    if (strcmp(kind, "cancelled") == 0)
        cancel();
    if (strcmp(kind, "refused") == 0)
        be_refused();
    if (strcmp(kind, "others") == 0) {
        hold_until_late();
        hold_spin();
        hold_shared();
        return 0;
    }
    if (strcmp(kind, "hang") == 0)
        hang(argc > 2 ? atoi(argv[2]) : 1);
    pthread_create(&other, NULL, repeat, &first);
    while (strcmp(kind, "exec") == 0)
        pause();
    if (strcmp(kind, "leader") == 0) {
        pthread_create(&other, NULL, repeat, &second);
        pthread_exit(NULL);
    }
    repeat(&second);
}
