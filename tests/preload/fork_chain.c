/* fork_chain.c - a child's child's child, a thousand times over, and kernels that do not tell of forks */
#include "fork.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void go_on_to(int links, int tell)
{
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER,
                           recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    for (int i = 0; i < links; i++) {
        OK(pthread_mutex_lock(&held));
        OK(pthread_mutex_lock(&recursive));
        OK(pthread_mutex_lock(&recursive));
        int child = fork();
        CHECK(child >= 0);
        if (child > 0)
            _exit(0);
        if (lock_name() != NULL) { /* glibc's still belongs to the parent's tid */
            OK(pthread_mutex_unlock(&recursive));
            OK(pthread_mutex_unlock(&recursive));
        } else {
            recursive = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
        }
        CHECK_IS(pthread_mutex_trylock(&held), EBUSY);
        OK(pthread_mutex_unlock(&held));
    }
    OK(try_elsewhere(&held));
    OK(try_elsewhere(&recursive));
    CHECK_IS(write(tell, "", 1), 1);
    _exit(0);
}

/* More than there are numbers for its epochs. */
static void a_chain_of_1100_forks_ends_well(void)
{
    int ends[2];
    char done;
    CHECK(pipe(ends) == 0);
    OK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); /* not every first process reaps orphans */
    int child = fork();
    if (child == 0) {
        close(ends[0]);
        go_on_to(1100, ends[1]);
    }
    close(ends[1]);
    while (wait(NULL) > 0)
        ;
    CHECK_IS(read(ends[0], &done, 1), 1); /* 0 if one of them failed */
}

/* A mutex that nobody has used for some generations still belongs to whoever locked it. */
static void a_recursive_mutex_outlives_seven_forks(void)
{
    static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    OK(pthread_mutex_lock(&m));
    OK(pthread_mutex_lock(&m));
    for (int i = 0; i < 7; i++) {
        int child = fork();
        if (child > 0) {
            OK(child_status(child));
            _exit(0);
        }
    }
    OK(pthread_mutex_lock(&m));
    for (int i = 0; i < 3; i++) {
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(pthread_mutex_unlock(&m));
    }
    OK(try_elsewhere(&m));
    CHECK_IS(pthread_mutex_unlock(&m), EPERM);
    _exit(0);
}

static void refuse_to_wipe(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_WIPEONFORK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        skip("no seccomp filters here");
}

/* As before Linux 4.14: there the library has nothing but its fork handler. */
static void a_fork_is_noticed_without_wiped_pages(void)
{
    if (getenv("PAWL_TEST_SANDBOX") == NULL) {
        OK(setenv("PAWL_TEST_SANDBOX", "1", 1));
        refuse_to_wipe();
        execl("/proc/self/exe", "conform", "--case", __func__, (char *)NULL);
        fail(__FILE__, __LINE__, "no exec");
    }
    static scene s;
    OK(pthread_mutex_lock(&s.mutex));
    pthread_t t = stand_in_line(&s);
    for (int i = 0; i < 3; i++) {
        int child = fork();
        if (child == 0) {
            unlock_and_use(&s, 1);
            _exit(0);
        }
        OK(child_status(child));
    }
    OK(pthread_mutex_unlock(&s.mutex));
    join(t);
    OK(try_elsewhere(&s.mutex));
}

const test_case fork_chain_cases[] = {CASE(a_chain_of_1100_forks_ends_well),
                                      BEYOND(a_recursive_mutex_outlives_seven_forks),
                                      CASE(a_fork_is_noticed_without_wiped_pages),
                                      {0}};
