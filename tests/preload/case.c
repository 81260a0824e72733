/* case.c - runs the cases, each in a process of its own
 *
 *   conform [--library FILE] [--list] [TEXT...]   those whose name contains one of the TEXTs, all if there is none
 *   conform --case NAME                           this one, here
 *
 * PAWL_TEST_LIMIT is the number of seconds after which a case hangs.
 */
#include "case.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pawl/locks.h>

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LIMIT_SECONDS = 300, SKIPPED = 77 };

static const test_case *const tables[] = {
    attribute_cases, rounds_cases,        end_cases,        unwind_cases,       interrupted_cases,
    basic_cases,     kind_cases,          forwarded_cases,  timed_cases,        cond_cases,
    cond_lost_cases, cond_mutex_cases,    cancel_cases,     other_cases,        symbol_cases,
    binding_cases,   fork_held_cases,     fork_crowd_cases, fork_handler_cases, fork_instant_cases,
    stress_cases,    signal_cases,        debug_cases,      fork_chain_cases,   native_cases,
    ways_cases,      signal_instant_cases};

/* ---- for the cases */

void fail(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const char *name = strrchr(file, '/');
    int length = snprintf(text, 256, "%s:%d: ", name != NULL ? name + 1 : file, line);
    length += vsnprintf(text + length, sizeof text - 258, format, arguments);
    text[length < 1022 ? length : 1022] = '\n';
    ssize_t written = write(STDERR_FILENO, text, (size_t)(length < 1022 ? length : 1022) + 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

void skip(const char *why)
{
    ssize_t written = write(STDERR_FILENO, why, strlen(why));
    written = write(STDERR_FILENO, "\n", 1);
    (void)written;
    _exit(SKIPPED);
}

const char *lock_name(void)
{
    static char name[128];
    Dl_info info;
    const char *library = "";
    if (dladdr(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"), &info) != 0 && info.dli_fname != NULL)
        library = info.dli_fname;
    const char *at = strstr(library, "libpawl-");
    if (at == NULL || strstr(at, "native") != NULL) /* which measures glibc's */
        return NULL;
    snprintf(name, sizeof name, "%s", at + strlen("libpawl-"));
    name[strcspn(name, ".")] = '\0';
    return name;
}

const pawl_lock_info *lock_info(void)
{
    static const struct {
        const char *name;
        pawl_lock_info info;
    } locks[] = {
#define PAWL_LOCK(name, form, room, ...) {PAWL_SHOWN(name, form), {__VA_ARGS__}},
#include <pawl/locks.def>
#undef PAWL_LOCK
    };
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++)
        if (lock_name() != NULL && strcmp(lock_name(), locks[i].name) == 0)
            return &locks[i].info;
    return NULL;
}

pthread_t spawn(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    OK(pthread_create(&thread, &small, run, argument));
    pthread_attr_destroy(&small);
    return thread;
}

void join(pthread_t thread)
{
    OK(pthread_join(thread, NULL));
}

void pause_ms(int milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

struct timespec in_ms(clockid_t clock, int milliseconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    long ns = t.tv_nsec + milliseconds % 1000 * 1000000L;
    t.tv_sec += milliseconds / 1000 + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

int own_tid(void)
{
    return (int)syscall(SYS_gettid);
}

void await_asleep(int tid)
{
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    for (int seen = 0, tries = 0; seen < 3 && tries < 60000; tries++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = file >= 0 ? read(file, stat, sizeof stat - 1) : -1;
        if (file >= 0)
            close(file);
        stat[n > 0 ? n : 0] = '\0';
        const char *state = strrchr(stat, ')');
        seen = state != NULL && state[2] == 'S' ? seen + 1 : 0;
        pause_ms(1);
    }
}

void make_mutex(pthread_mutex_t *m, int type)
{
    pthread_mutexattr_t a;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_settype(&a, type));
    OK(pthread_mutex_init(m, &a));
    OK(pthread_mutexattr_destroy(&a));
}

static void *try_and_tell(void *mutex)
{
    int result = pthread_mutex_trylock(mutex);
    if (result == 0)
        OK(pthread_mutex_unlock(mutex));
    return (void *)(intptr_t)result;
}

int try_elsewhere(pthread_mutex_t *m)
{
    void *result;
    OK(pthread_join(spawn(try_and_tell, m), &result));
    return (int)(intptr_t)result;
}

long resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    CHECK(f != NULL && fscanf(f, "%*d %ld", &pages) == 1);
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

int child_status(int pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* ---- running them */

static int passed, failed, skipped;
static const char *library;

static _Noreturn void become(const char *self, const test_case *c, int out)
{
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (library != NULL)
        setenv("LD_PRELOAD", library, 1);
    if (c->environment != NULL)
        putenv((char *)(uintptr_t)c->environment);
    execl(self, self, "--case", c->name, (char *)NULL);
    _exit(127);
}

/* False: the time is up. */
static bool listen_to(int from, char *text, size_t size)
{
    const char *seconds = getenv("PAWL_TEST_LIMIT");
    time_t limit = time(NULL) + (seconds != NULL ? atoi(seconds) : LIMIT_SECONDS);
    size_t length = 0;
    for (;;) {
        text[length] = '\0';
        struct pollfd p = {.fd = from, .events = POLLIN};
        if (time(NULL) >= limit)
            return false;
        if (poll(&p, 1, 500) <= 0)
            continue;
        ssize_t n = read(from, text + length, size - 1 - length);
        if (n <= 0)
            return true;
        length += (size_t)n;
    }
}

static void judge(const test_case *c, bool in_time, int status, const char *text)
{
    if (in_time && status == 0 && *text == '\0') {
        passed++;
    } else if (in_time && status == SKIPPED) {
        skipped++;
        printf("SKIP %s: %s", c->name, text);
    } else {
        failed++;
        printf("FAIL %s: %s%s", c->name, !in_time ? "no end within the time limit\n" : "", text);
        if (in_time && *text == '\0')
            printf(status > 255 ? "signal %d\n" : "exit status %d\n", status > 255 ? status - 256 : status);
    }
    fflush(stdout);
}

static void run(const char *self, const test_case *c)
{
    int says[2];
    CHECK(pipe2(says, O_CLOEXEC) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setpgid(0, 0); /* to end its children with it */
        become(self, c, says[1]);
    }
    close(says[1]);
    static char text[16 * 1024];
    bool in_time = listen_to(says[0], text, sizeof text);
    kill(-child, SIGKILL); /* what it left behind, too */
    if (!in_time)
        kill(child, SIGKILL);
    close(says[0]);
    judge(c, in_time, child_status(child), text);
}

static bool is_wanted(const test_case *c, int texts, char **text)
{
    if (library == NULL && c->scope == BEYOND_GLIBC)
        return false;
    for (int i = 0; i < texts; i++)
        if (strstr(c->name, text[i]) != NULL)
            return true;
    return texts == 0;
}

static int run_here(const char *name)
{
    if (strcmp(name, "(stranger)") == 0) {
        be_the_stranger();
        return 0;
    }
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const test_case *c = tables[t]; c->name != NULL; c++)
            if (strcmp(c->name, name) == 0) {
                c->run();
                return 0;
            }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--case") == 0)
        return run_here(argv[2]);
    char *self = realpath("/proc/self/exe", NULL);
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--library") == 0) {
        library = argv[2];
        first = 3;
    }
    bool lists = argc > first && strcmp(argv[first], "--list") == 0;
    first += lists;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const test_case *c = tables[t]; c->name != NULL; c++)
            if (is_wanted(c, argc - first, argv + first))
                lists ? (void)puts(c->name) : run(self, c);
    free(self);
    if (lists)
        return 0;
    printf("%d passed, %d failed", passed, failed);
    printf(skipped > 0 ? ", %d skipped\n" : "\n", skipped);
    return failed > 0;
}
