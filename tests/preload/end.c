/* end.c - the end of a process while its threads wait, and of its first thread while others go on */
#include "case.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>

extern char **environ;

typedef struct scene {
    pthread_mutex_t mutex, held;
    pthread_cond_t cond;
    pthread_spinlock_t spin;
    _Atomic(int) tid, entered;
    _Atomic(bool) stop;
} scene;

/* ---- those that wait */

static void *wait_for_the_mutex(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_mutex_lock(&s->held));
    return NULL;
}

static void *wait_until_late(void *argument)
{
    scene *s = argument;
    struct timespec late = in_ms(CLOCK_REALTIME, 100000);
    s->tid = own_tid();
    OK(pthread_mutex_timedlock(&s->held, &late));
    return NULL;
}

static void *wait_for_the_condvar(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    s->tid = own_tid();
    for (;;)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
}

static void *wait_for_the_spin_lock(void *argument)
{
    scene *s = argument;
    s->tid = own_tid();
    OK(pthread_spin_lock(&s->spin));
    return NULL;
}

static void make_them_wait(scene *s)
{
    static void *(*const waits[])(void *) = {wait_for_the_mutex, wait_until_late, wait_for_the_condvar,
                                             wait_for_the_spin_lock};
    OK(pthread_spin_init(&s->spin, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_lock(&s->spin));
    OK(pthread_mutex_lock(&s->held));
    for (int i = 0; i < 8; i++) {
        s->tid = 0;
        spawn(waits[i % 4], s);
        while (s->tid == 0)
            pause_ms(1);
        if (i % 4 != 3)
            await_asleep(s->tid);
    }
}

static scene at_exit;

static void use_it_at_exit(void)
{
    OK(pthread_mutex_lock(&at_exit.mutex));
    OK(pthread_cond_broadcast(&at_exit.cond));
    OK(pthread_mutex_unlock(&at_exit.mutex));
}

static void *exit_from_here(void *argument)
{
    make_them_wait(argument);
    exit(7);
}

static void exit_does_not_wait_for_those_that_wait(void)
{
    for (int i = 0; i < 2; i++) {
        int child = fork();
        if (child == 0) {
            atexit(use_it_at_exit);
            if (i != 0)
                join(spawn(exit_from_here, &at_exit)); /* not the first thread */
            exit_from_here(&at_exit);
        }
        CHECK_IS(child_status(child), 7);
    }
}

static void another_program_takes_their_place(void)
{
    int child = fork();
    if (child == 0) {
        make_them_wait(&at_exit);
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(127);
    }
    CHECK_IS(child_status(child), 7);
}

/* ---- the first thread */

static pthread_t first, last;

static void *go_on(void *argument)
{
    scene *s = argument;
    OK(pthread_join(first, NULL));
    for (int i = 0; i < 300; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        s->entered++;
        OK(pthread_cond_broadcast(&s->cond));
        OK(pthread_mutex_unlock(&s->mutex));
    }
    OK(pthread_join(last, NULL)); /* it needs the mutex once more */
    OK(try_elsewhere(&s->mutex));
    OK(pthread_mutex_lock(&s->mutex));
    int child = fork();
    OK(pthread_mutex_unlock(&s->mutex));
    if (child == 0) {
        OK(try_elsewhere(&s->mutex));
        _exit(0);
    }
    OK(child_status(child));
    _exit(9);
}

static void *wait_for_all(void *argument)
{
    scene *s = argument;
    OK(pthread_mutex_lock(&s->mutex));
    while (s->entered < 300)
        OK(pthread_cond_wait(&s->cond, &s->mutex));
    OK(pthread_mutex_unlock(&s->mutex));
    return NULL;
}

static void the_process_goes_on_without_its_first_thread(void)
{
    int child = fork();
    if (child == 0) {
        first = pthread_self();
        last = spawn(wait_for_all, &at_exit);
        spawn(go_on, &at_exit);
        pthread_exit(NULL);
    }
    CHECK_IS(child_status(child), 9);
}

/* ---- children that share the memory for a moment */

static void *hammer(void *argument)
{
    scene *s = argument;
    while (!s->stop) {
        OK(pthread_mutex_lock(&s->mutex));
        s->entered++;
        OK(pthread_cond_signal(&s->cond));
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

static void spawn_a_program(void)
{
    static char *const arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                                      (char *)(uintptr_t) "exit 5", NULL};
    pid_t child;
    OK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
    CHECK_IS(child_status(child), 5);
}

static void read_from_a_program(void)
{
    char text[16] = "";
    FILE *from = popen("echo done", "r");
    CHECK(from != NULL);
    CHECK(fgets(text, sizeof text, from) != NULL);
    CHECK_IS(strcmp(text, "done\n"), 0);
    OK(pclose(from));
}

static void a_crowd_starts_programs(void)
{
    static scene s;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        t[i] = spawn(hammer, &s);
    for (int i = 0; i < 4; i++) {
        OK(pthread_mutex_lock(&s.mutex)); /* as programs do it: it is still ours when the child is gone */
        spawn_a_program();
        read_from_a_program();
        CHECK_IS(s.mutex.__data.__owner, own_tid());
        OK(pthread_mutex_unlock(&s.mutex));
        read_from_a_program();
    }
    s.stop = true;
    for (int i = 0; i < 2; i++)
        join(t[i]);
}

const test_case end_cases[] = {CASE(exit_does_not_wait_for_those_that_wait),
                               CASE(another_program_takes_their_place),
                               CASE(the_process_goes_on_without_its_first_thread),
                               CASE(a_crowd_starts_programs),
                               {0}};
