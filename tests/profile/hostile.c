/* hostile.c - a program that makes it hard to be watched: hostile HOW [N]; each way uses a lock N times or in N processes or threads */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count = 10;

static void use(int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *use_once(void *argument)
{
    use(1);
    return argument;
}

static void *leave(void *argument)
{
    use(count);
    _exit(7);
    return argument;
}

static int join_all(void *(*function)(void *), int n)
{
    pthread_attr_t small;
    pthread_t *ids = calloc((size_t)n, sizeof *ids);
    int made = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    while (made < n && pthread_create(&ids[made], &small, function, NULL) == 0)
        made++;
    for (int i = 0; i < made; i++)
        pthread_join(ids[i], NULL);
    free(ids);
    return made;
}

/* Half of them have children of their own. */
static void multiply(int n)
{
    use(1);
    while (n > 1) {
        int part = n / 2;
        pid_t child = fork();
        if (child == 0) {
            multiply(part);
            _exit(0);
        }
        n -= part;
    }
    while (wait(NULL) > 0)
        ;
}

/* ---- a signal handler that locks, whatever it interrupts */

static pthread_mutex_t in_handler = PTHREAD_MUTEX_INITIALIZER;
static long handled, uses, contenders; /* acquisitions, each counted under its lock */
static volatile bool over;

static void lock_in_handler(int signal)
{
    (void)signal;
    pthread_mutex_lock(&in_handler);
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&in_handler);
}

static void *use_all_the_time(void *argument)
{
    for (; !over; uses++)
        use(1);
    return argument;
}

static void *contend_with_the_handler(void *argument)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (; !over; contenders++) {
        pthread_mutex_lock(&in_handler);
        pthread_mutex_unlock(&in_handler);
    }
    return argument;
}

static void interrupt(int times)
{
    pthread_t user, contender;
    signal(SIGUSR1, lock_in_handler);
    pthread_create(&user, NULL, use_all_the_time, NULL);
    pthread_create(&contender, NULL, contend_with_the_handler, NULL);
    for (int i = 1; i <= times; i++) {
        pthread_kill(user, SIGUSR1);
        while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) < i)
            sched_yield();
    }
    over = true;
    pthread_join(user, NULL);
    pthread_join(contender, NULL);
    printf("mutex %ld in_handler %ld\n", uses, handled + contenders);
}

/* Opening a file ends the process from now on. */
static bool enter_sandbox(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    count = argc > 2 ? atoi(argv[2]) : count;
    if (strcmp(how, "close") == 0) {
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        use(count);
    }
    if (strcmp(how, "chroot") == 0) {
        if (chroot(".") != 0 || chdir("/") != 0)
            return 3;
        use(count);
        if (fork() == 0) {
            use(count);
            _exit(0);
        }
        wait(NULL);
    }
    if (strcmp(how, "leave") == 0) {
        pthread_t other;
        pthread_create(&other, NULL, leave, NULL);
        for (;;)
            use(1);
    }
    if (strcmp(how, "threads") == 0)
        return join_all(use_once, count) == count ? 0 : 4;
    if (strcmp(how, "signals") == 0)
        interrupt(count);
    if (strcmp(how, "multiply") == 0)
        multiply(count);
    if (strcmp(how, "sandbox") == 0) {
        if (!enter_sandbox())
            return 6;
        use(count);
        _exit(0);
    }
    if (strcmp(how, "children") ==
        0) { /* with little room in files; each ends well, or else the program does not */
        use(1);
        if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){65536, 65536}) != 0)
            return 6;
        for (int i = 0, status; i < count; i++) {
            pid_t child = fork();
            if (child == 0) {
                use(1);
                exit(0);
            }
            if (waitpid(child, &status, 0) != child || status != 0)
                return 5;
        }
    }
    if (strcmp(how, "exec") == 0) {
        use(1);
        char less[16];
        snprintf(less, sizeof less, "%d", count - 1);
        if (count > 1)
            execl("/proc/self/exe", argv[0], "exec", less, NULL);
    }
    return 0;
}
