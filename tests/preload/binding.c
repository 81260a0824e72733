/* binding.c - threads of every origin and every time, and sandboxes */
#include "case.h"
#include "early.h"

#include <aio.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <pawl/locks.h>

#include <threads.h>

/* ---- what it takes */

static int look_at_tls(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    if (strstr(info->dlpi_name, "libpawl-") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)found = info->dlpi_phdr[i].p_memsz;
    return 1;
}

static void it_takes_768_bytes_of_each_thread(void)
{
    size_t bytes = 0;
    dl_iterate_phdr(look_at_tls, &bytes);
    CHECK(bytes > 0 && bytes <= 768);
}

/* ---- before and after */

static int called_first;

static void call_first(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    for (int i = 0; i < EARLY_CALLS; i++)
        called_first +=
            pthread_mutex_lock(&m) == 0 && pthread_cond_broadcast(&c) == 0 && pthread_mutex_unlock(&m) == 0;
}

/* Of the program: before any constructor of any library. */
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = call_first;

static void it_works_before_its_constructor(void)
{
    CHECK_IS(called_first, EARLY_CALLS);
    CHECK_IS(early_constructed, EARLY_CALLS);
}

static void at_the_end(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < EARLY_CALLS; i++)
        if (pthread_mutex_lock(&m) != 0 || pthread_mutex_unlock(&m) != 0)
            _exit(97);
}

/* In atexit() handlers, and in the destructor of early.c, which tells by the exit status. */
static void it_works_after_its_destructor(void)
{
    atexit(at_the_end);
}

/* ---- threads that nobody announced */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int notified;

static void notify(union sigval unused)
{
    (void)unused;
    OK(pthread_mutex_lock(&mutex));
    notified++;
    OK(pthread_cond_signal(&cond));
    OK(pthread_mutex_unlock(&mutex));
}

static void await_notified(int count)
{
    OK(pthread_mutex_lock(&mutex));
    while (notified < count)
        OK(pthread_cond_wait(&cond, &mutex));
    OK(pthread_mutex_unlock(&mutex));
}

static void a_timers_thread_may_lock(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
    timer_t timer;
    OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    OK(timer_settime(timer, 0, &often, NULL));
    await_notified(5);
    OK(timer_delete(timer));
}

static void an_aio_thread_may_lock(void)
{
    FILE *file = tmpfile();
    CHECK(file != NULL);
    static char text[] = "text";
    for (int i = 0; i < 5; i++) {
        struct aiocb request = {.aio_fildes = fileno(file), .aio_buf = text, .aio_nbytes = sizeof text};
        request.aio_sigevent.sigev_notify = SIGEV_THREAD;
        request.aio_sigevent.sigev_notify_function = notify;
        OK(aio_write(&request));
        await_notified(i + 1);
        while (aio_error(&request) == EINPROGRESS)
            pause_ms(1);
    }
    fclose(file);
}

static int notify_c11(void *unused)
{
    (void)unused;
    notify((union sigval){0});
    return 0;
}

static void a_c11_thread_may_lock(void)
{
    for (int i = 0; i < 5; i++) {
        thrd_t t;
        CHECK_IS(thrd_create(&t, notify_c11, NULL), thrd_success);
        await_notified(i + 1);
        CHECK_IS(thrd_join(t, NULL), thrd_success);
    }
}

/* ---- many threads, and their ends */

enum { CROWD = 2100 };

static void *join_the_crowd(void *count)
{
    OK(pthread_mutex_lock(&mutex));
    ++*(int *)count;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void two_thousand_threads_wait_for_one_mutex(void)
{
    static pthread_t t[CROWD];
    int count = 0;
    OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < CROWD; i++)
        t[i] = spawn(join_the_crowd, &count);
    pause_ms(30);
    CHECK_IS(count, 0);
    OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < CROWD; i++)
        join(t[i]);
    CHECK_IS(count, CROWD);
}

static void threads_come_and_go(void)
{
    int count = 0;
    for (int i = 0; i < 1000; i += 4) {
        pthread_t t[4];
        for (int k = 0; k < 4; k++)
            t[k] = spawn(join_the_crowd, &count);
        for (int k = 0; k < 4; k++)
            join(t[k]);
    }
    CHECK_IS(count, 1000);
}

enum { KEYS = 40 }; /* beyond 32 glibc allocates */
static pthread_key_t keys[KEYS];
static int destroyed, many_destroyed;
static pthread_mutex_t each[KEYS];

/* Locks, and asks for another round, as often as there are any. */
static void destroy(void *value)
{
    int i = (int)(intptr_t)value - 1;
    OK(pthread_mutex_lock(&each[i]));
    OK(pthread_mutex_lock(&mutex));
    destroyed++;
    if (++many_destroyed % 3 == 0)
        sched_yield();
    OK(pthread_mutex_unlock(&each[i]));
    OK(pthread_mutex_unlock(&mutex));
    pthread_setspecific(keys[i], value);
}

static void *end_with_destructors(void *unused)
{
    for (intptr_t i = 0; i < KEYS; i++)
        OK(pthread_setspecific(keys[i], (void *)(i + 1)));
    return unused;
}

static void destructors_of_a_thread_may_lock(void)
{
    for (int i = 0; i < KEYS; i++)
        OK(pthread_key_create(&keys[i], destroy));
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(end_with_destructors, NULL);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    CHECK(destroyed >= 4 * KEYS);
}

static void every_key_is_the_programs(void)
{
    const pawl_lock_info *lock = lock_info();
    if (lock != NULL && (lock->minds_exit || lock->held_bytes + lock->idle_bytes > 0))
        skip("it has to know of the end of threads");
    pthread_key_t key;
    for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
        OK(pthread_key_create(&key, NULL));
}

static void *hold_many_at_once(void *unused)
{
    pthread_mutex_t m[32];
    memset(m, 0, sizeof m);
    for (int i = 0; i < 32; i++)
        OK(pthread_mutex_lock(&m[i]));
    for (int i = 0; i < 32; i++)
        OK(pthread_mutex_unlock(&m[i]));
    return unused;
}

/* A program may use up all keys before it locks anything: the library has its own by then. */
static void threads_leave_nothing_behind_when_keys_run_out(void)
{
    enum { THREADS = 2000, ALLOWED = THREADS * 128 * 4 };
    pthread_key_t key;
    while (pthread_key_create(&key, NULL) == 0)
        ;
    long before = 0;
    for (int i = 0; i < THREADS; i++) {
        join(spawn(hold_many_at_once, NULL));
        if (i == 50)
            before = resident_bytes();
    }
    CHECK(resident_bytes() - before < ALLOWED);
}

/* ---- in a sandbox */

static void forbid(int call)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        skip("no seccomp filters here");
}

static void *lock_and_unlock(void *mutex)
{
    for (int i = 0; i < 200; i++) {
        OK(pthread_mutex_lock(mutex));
        OK(pthread_mutex_unlock(mutex));
    }
    return NULL;
}

static void contend_for_a_mutex(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t[4];
    OK(pthread_mutex_lock(&m));
    for (int i = 0; i < 4; i++)
        t[i] = spawn(lock_and_unlock, &m);
    pause_ms(30); /* until they sleep, with luck */
    OK(pthread_mutex_unlock(&m));
    for (int i = 0; i < 4; i++)
        join(t[i]);
}

static void a_sandbox_may_forbid_gettid(void)
{
    forbid(SYS_gettid);
    contend_for_a_mutex();
}

static void it_starts_in_a_sandbox_that_forbids_membarrier(void)
{
    if (getenv("PAWL_TEST_SANDBOX") == NULL) {
        OK(setenv("PAWL_TEST_SANDBOX", "1", 1));
        forbid(SYS_membarrier);
        execl("/proc/self/exe", "conform", "--case", __func__, (char *)NULL);
        fail(__FILE__, __LINE__, "no exec");
    }
    contend_for_a_mutex();
}

const test_case binding_cases[] = {BEYOND(it_takes_768_bytes_of_each_thread),
                                   {.name = "it_works_before_its_constructor",
                                    .run = it_works_before_its_constructor,
                                    .environment = "PAWL_TEST_EARLY=1"},
                                   {.name = "it_works_after_its_destructor",
                                    .run = it_works_after_its_destructor,
                                    .environment = "PAWL_TEST_EARLY=1"},
                                   CASE(a_timers_thread_may_lock),
                                   CASE(an_aio_thread_may_lock),
                                   CASE(a_c11_thread_may_lock),
                                   CASE(two_thousand_threads_wait_for_one_mutex),
                                   CASE(threads_come_and_go),
                                   CASE(destructors_of_a_thread_may_lock),
                                   CASE(every_key_is_the_programs),
                                   CASE(threads_leave_nothing_behind_when_keys_run_out),
                                   CASE(a_sandbox_may_forbid_gettid),
                                   CASE(it_starts_in_a_sandbox_that_forbids_membarrier),
                                   {0}};
