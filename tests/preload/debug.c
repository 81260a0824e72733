/* debug.c - PAWL_DEBUG under a program that knows nothing of it: silent about what is right, and the reports name a pthread_mutex_t */
#include "case.h"

#include <fcntl.h>
#include <signal.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go;

/* ---- what it says */

static int says[2], standard_error;

static void listen(void)
{
    CHECK(pipe2(says, O_NONBLOCK | O_CLOEXEC) == 0);
    standard_error = dup(STDERR_FILENO);
    CHECK(dup2(says[1], STDERR_FILENO) >= 0);
}

/* A report begins with this text, or there is none, if it is null. */
static void heard(const char *report)
{
    static char text[64 * 1024];
    CHECK(dup2(standard_error, STDERR_FILENO) >= 0);
    close(says[1]);
    ssize_t length = read(says[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    close(says[0]);
    close(standard_error);
    if (report == NULL ? *text != '\0'
                       : strstr(text, report) == NULL || strstr(text, "pthread_mutex_t") == NULL)
        fail(__FILE__, __LINE__, "wanted: %s; got: %s", report != NULL ? report : "nothing", text);
}

/* ---- what is right */

static void *signal_it(void *m)
{
    OK(pthread_mutex_lock(m));
    await_asleep(getpid()); /* only then is it requeued */
    go = 1;
    OK(pthread_cond_signal(&cond));
    OK(pthread_mutex_unlock(m));
    return NULL;
}

static void wait_for_it(pthread_mutex_t *m)
{
    go = 0;
    pthread_t t = spawn(signal_it, m);
    while (!go)
        OK(pthread_cond_wait(&cond, m));
    join(t);
    struct timespec soon = in_ms(CLOCK_REALTIME, 1);
    CHECK_IS(pthread_cond_timedwait(&cond, m, &soon), ETIMEDOUT);
}

static void *unlock_it(void *m)
{
    OK(pthread_mutex_unlock(m));
    return NULL;
}

/* Trying does not wait, so it can't be part of a deadlock. */
static void take_b_then_try_a(void)
{
    struct timespec soon = in_ms(CLOCK_REALTIME, 100000);
    OK(pthread_mutex_lock(&b));
    OK(pthread_mutex_trylock(&a));
    OK(pthread_mutex_unlock(&a));
    OK(pthread_mutex_timedlock(&a, &soon));
    OK(pthread_mutex_unlock(&a));
    OK(pthread_mutex_unlock(&b));
}

static void take_a_then_b(void)
{
    OK(pthread_mutex_lock(&a));
    OK(pthread_mutex_lock(&b));
    OK(pthread_mutex_unlock(&b));
    OK(pthread_mutex_unlock(&a));
}

static void debug_mode_is_silent_about_what_is_right(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 3; i++) {
        pthread_mutex_t m;
        make_mutex(&m, types[i]);
        for (int k = 0; k < 2; k++) {
            OK(pthread_mutex_lock(&m));
            CHECK_IS(try_elsewhere(&m), EBUSY);
            if (types[i] == PTHREAD_MUTEX_RECURSIVE) {
                OK(pthread_mutex_lock(&m));
                OK(pthread_mutex_unlock(&m));
            }
            wait_for_it(&m);
            OK(pthread_mutex_unlock(&m));
        }
        OK(pthread_mutex_destroy(&m));
    }
    take_a_then_b();
    take_b_then_try_a();
    OK(pthread_mutex_lock(&a)); /* a binary semaphore */
    if (strncmp(lock_name(), "hemlock", 7) == 0)
        OK(pthread_mutex_unlock(&a));
    else
        join(spawn(unlock_it, &a));
}

/* ---- what is not */

static void take_b_then_a(void)
{
    OK(pthread_mutex_lock(&b));
    OK(pthread_mutex_lock(&a));
    OK(pthread_mutex_unlock(&a));
    OK(pthread_mutex_unlock(&b));
}

static void debug_mode_reports_an_inversion(void)
{
    take_a_then_b();
    listen();
    take_b_then_a();
    heard("pawl: lock-order inversion");
    CHECK_IS(try_elsewhere(&a), 0);
}

/* It holds the mutex again after a wait, and did not hold it during the wait. */
static void debug_mode_knows_who_waits(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    OK(pthread_mutex_lock(&m));
    wait_for_it(&m);
    OK(pthread_mutex_lock(&a));
    OK(pthread_mutex_unlock(&a));
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_lock(&a));
    listen();
    OK(pthread_mutex_lock(&m));
    heard("pawl: lock-order inversion");
    OK(pthread_mutex_unlock(&a));
    go = 0;
    pthread_t t = spawn(signal_it, &m);
    while (!go)
        OK(pthread_cond_wait(&cond, &m));
    join(t);
    OK(pthread_mutex_lock(&b)); /* after a wait that a signal ended: m comes before b */
    OK(pthread_mutex_unlock(&b));
    OK(pthread_mutex_unlock(&m));
    OK(pthread_mutex_lock(&b));
    listen();
    OK(pthread_mutex_lock(&m));
    heard("pawl: lock-order inversion");
}

static void debug_mode_reports_an_unlock_too_many(void)
{
    OK(pthread_mutex_lock(&a));
    OK(pthread_mutex_unlock(&a));
    listen();
    pthread_mutex_unlock(&a); /* EPERM with Hemlock */
    heard(strncmp(lock_name(), "hemlock", 7) == 0 ? NULL : "pawl: unlock of a lock that is not held");
}

static void debug_mode_reports_the_end_of_a_held_mutex(void)
{
    OK(pthread_mutex_lock(&a));
    listen();
    CHECK_IS(pthread_mutex_destroy(&a), EBUSY);
    heard("pawl: destruction of a lock that is held");
}

static void debug_mode_ends_a_deadlock_with_oneself(void)
{
    OK(pthread_mutex_lock(&a));
    listen();
    int child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        OK(pthread_mutex_lock(&a)); /* its parent held it */
        _exit(0);
    }
    int status = child_status(child);
    heard("pawl: self-deadlock");
    CHECK_IS(status, 256 + SIGABRT);
}

#define WITH(mode, f)                                                                                        \
    {                                                                                                        \
        .name = #f, .run = f, .scope = BEYOND_GLIBC, .environment = "PAWL_DEBUG=" mode                       \
    }
const test_case debug_cases[] = {WITH("1", debug_mode_is_silent_about_what_is_right),
                                 WITH("continue", debug_mode_reports_an_inversion),
                                 WITH("continue", debug_mode_knows_who_waits),
                                 WITH("continue", debug_mode_reports_an_unlock_too_many),
                                 WITH("continue", debug_mode_reports_the_end_of_a_held_mutex),
                                 WITH("abort", debug_mode_ends_a_deadlock_with_oneself),
                                 {0}};
