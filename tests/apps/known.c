/* known.c - a program whose statistics are known: known WHAT [N]
 *
 * Its symbols are exported, so that the report can name them.
 */
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER, counted = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void use(pthread_mutex_t *m, int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

static void count(int n)
{
    use(&counted, n);
}

/* A recursive mutex entered three times is acquired once. */
static void recurse(int n)
{
    for (int i = 0; i < n; i++) {
        for (int depth = 0; depth < 3; depth++)
            pthread_mutex_lock(&recursive);
        for (int depth = 0; depth < 3; depth++)
            pthread_mutex_unlock(&recursive);
    }
}

static void try_locks(int n)
{
    for (int i = 0; i < n; i++) {
        if (pthread_mutex_trylock(&counted) == 0) {
            pthread_mutex_trylock(&counted); /* does not get it */
            pthread_mutex_unlock(&counted);
        }
    }
}

/* A call must not find what another has left on the stack. */
__attribute__((noinline)) static void litter(void)
{
    char stack[4096];
    memset(stack, 0x55, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

/* By its owner, in vain. */
static void try_checked(int n)
{
    static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&checked);
        litter();
        pthread_mutex_trylock(&checked);
        pthread_mutex_unlock(&checked);
    }
}

static void spin(int n)
{
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < n; i++) {
        if ((i % 2 == 0 ? pthread_spin_trylock : pthread_spin_lock)(&lock) != 0)
            abort();
        if (pthread_spin_unlock(&lock) != 0)
            abort();
    }
    pthread_spin_destroy(&lock);
}

/* Each wait lets the mutex go and takes it again. */
static void wait_in_vain(int n)
{
    pthread_mutex_lock(&counted);
    for (int i = 0; i < n; i++)
        pthread_cond_timedwait(&condition, &counted, &(struct timespec){0});
    pthread_mutex_unlock(&counted);
}

static void reuse(int n)
{
    pthread_mutex_t m;
    for (int i = 0; i < n; i++) {
        pthread_mutex_init(&m, NULL);
        use(&m, 2);
        pthread_mutex_destroy(&m);
    }
}

static void many(int n)
{
    pthread_mutex_t *m = calloc((size_t)n, sizeof *m);
    for (int i = 0; i < n; i++)
        use(&m[i], 1);
    free(m);
}

static pid_t waiting_thread;
static sem_t held;

__attribute__((noinline)) void wait_here(void)
{
    pthread_mutex_lock(&slow);
    __asm__ volatile("" ::: "memory"); /* no tail call: the call site is here */
    pthread_mutex_unlock(&slow);
}

static void *waiter(void *argument)
{
    sem_wait(&held);
    __atomic_store_n(&waiting_thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    wait_here();
    return argument;
}

static bool asleep(pid_t thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(f);
    return state == 'S';
}

/* Another thread waits for `slow`, and this one holds it for at least n ms from when that one sleeps. */
static void wait_long(int n)
{
    pthread_t other;
    sem_init(&held, 0, 0);
    pthread_create(&other, NULL, waiter, NULL);
    pthread_mutex_lock(&slow);
    sem_post(&held);
    pid_t thread;
    while ((thread = __atomic_load_n(&waiting_thread, __ATOMIC_ACQUIRE)) == 0 || !asleep(thread))
        usleep(1000);
    usleep((useconds_t)n * 1000);
    pthread_mutex_unlock(&slow);
    pthread_join(other, NULL);
}

/* n mutexes, each waited for longer than the one before it, however slow the machine is. */
pthread_mutex_t several[20];
static long longest_us; /* that the last wait may have been */

static long microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *wait_for_one(void *mutex)
{
    long began = microseconds(CLOCK_MONOTONIC);
    __atomic_store_n(&waiting_thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    use(mutex, 1);
    longest_us = microseconds(CLOCK_MONOTONIC) - began;
    return NULL;
}

static void wait_for_several(int n)
{
    for (int i = 0; i < n && i < 20; i++) {
        pthread_t other;
        pid_t thread;
        waiting_thread = 0;
        pthread_mutex_lock(&several[i]);
        pthread_create(&other, NULL, wait_for_one, &several[i]);
        while ((thread = __atomic_load_n(&waiting_thread, __ATOMIC_ACQUIRE)) == 0 || !asleep(thread))
            usleep(1000);
        usleep((useconds_t)longest_us + 1000);
        pthread_mutex_unlock(&several[i]);
        pthread_join(other, NULL);
    }
}

/* n threads that go to sleep for one mutex at once. */
static int arrived;

static void *join_crowd(void *unused)
{
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
    use(&slow, 1);
    return unused;
}

static void crowd(int n)
{
    pthread_t others[100];
    n = n < 100 ? n : 100;
    pthread_mutex_lock(&slow);
    for (int i = 0; i < n; i++)
        pthread_create(&others[i], NULL, join_crowd, NULL);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < n)
        usleep(1000);
    usleep(100000);
    pthread_mutex_unlock(&slow);
    for (int i = 0; i < n; i++)
        pthread_join(others[i], NULL);
}

/* Prints how a thread waits for a mutex: until it has used n ms of CPU time, or slept for n ms without. */
static void watch_waiting(int n)
{
    pthread_t other;
    clockid_t of_other;
    long quiet = 0, used = 0;
    pthread_mutex_lock(&slow);
    pthread_create(&other, NULL, wait_for_one, &slow);
    pthread_getcpuclockid(other, &of_other);
    while (used < n * 1000L && quiet < n) {
        usleep(1000);
        long before = used;
        pid_t thread = __atomic_load_n(&waiting_thread, __ATOMIC_ACQUIRE);
        used = microseconds(of_other);
        quiet = used == before && thread != 0 && asleep(thread) ? quiet + 1 : 0;
    }
    puts(quiet >= n ? "asleep" : "on a CPU");
    pthread_mutex_unlock(&slow);
    pthread_join(other, NULL);
}

static void fork_one(int n)
{
    count(n);
    pid_t child = fork();
    if (child == 0) {
        count(2 * n);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void fork_idle(int n)
{
    count(n);
    if (fork() == 0)
        exit(0);
    wait(NULL);
}

static void leave_quickly(int n)
{
    count(n);
    quick_exit(0);
}

static void leave_at_once(int n)
{
    count(n);
    _exit(0);
}

static void close_errors(int n)
{
    count(n);
    close(STDERR_FILENO);
    dup(STDOUT_FILENO); /* is descriptor 2 now */
}

static void change_folder(int n)
{
    count(n);
    if (chdir("/") != 0)
        exit(1);
}

static void use_locale(int n)
{
    if (setlocale(LC_ALL, "") == NULL)
        exit(1);
    count(n);
}

static const struct {
    const char *name;
    void (*run)(int n);
} parts[] = {{"count", count},
             {"recurse", recurse},
             {"trylock", try_locks},
             {"errorcheck", try_checked},
             {"spin", spin},
             {"wait-in-vain", wait_in_vain},
             {"reuse", reuse},
             {"many", many},
             {"wait-long", wait_long},
             {"wait-for-several", wait_for_several},
             {"crowd", crowd},
             {"watch-waiting", watch_waiting},
             {"fork", fork_one},
             {"fork-idle", fork_idle},
             {"quick_exit", leave_quickly},
             {"_exit", leave_at_once},
             {"close-errors", close_errors},
             {"change-folder", change_folder},
             {"locale", use_locale}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run(atoi(argv[2]));
            return 0;
        }
    }
    fprintf(stderr, "usage: known WHAT N\n");
    return 2;
}
