/* harness.c - see harness.h */
#include "harness.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Only a test that hangs reaches this, however busy the machine is. */
enum { LIMIT_SECONDS = 300, EXIT_SKIPPED = 77 };

/* qemu 7.2 on x86 lets a seq_cst load of AArch64 (LDAR) overtake a seq_cst store (STLR): two threads that each store and
 * then load the other's word both miss the store in one of twenty tries. hapax_vw's hand-off rests on that order. */
#ifndef REORDERS_SEQ_CST
#define REORDERS_SEQ_CST false
#endif

static double scale = 1;
static bool no_fork, few_slots;
static int passed, failed, skipped;

size_t scaled(size_t n)
{
    double times = (double)n * scale;
    return times < 1 ? 1 : (size_t)times;
}

static _Noreturn void end(int status, const char *format, va_list arguments)
{
    char line[1024];
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    length = length < (int)sizeof line - 2 ? length : (int)sizeof line - 2;
    line[length] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)length + 1);
    (void)written;
    _exit(status); /* other threads may be anywhere */
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(EXIT_FAILURE, format, arguments);
}

void skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(EXIT_SKIPPED, format, arguments);
}

/* Reads what the child says until it ends or its time is up; false: time is up. */
static bool listen(int from, char *text, size_t size)
{
    const char *limit = getenv("PAWL_TEST_LIMIT");
    time_t deadline = time(NULL) + (limit != NULL ? atoi(limit) : LIMIT_SECONDS + (time_t)(60 * scale));
    size_t length = 0;
    for (;;) {
        struct pollfd p = {.fd = from, .events = POLLIN};
        char discarded[4096];
        bool room = length + 1 < size;
        text[length] = '\0';
        if (time(NULL) >= deadline)
            return false;
        if (poll(&p, 1, 1000) <= 0)
            continue;
        ssize_t n = read(from, room ? text + length : discarded, room ? size - 1 - length : sizeof discarded);
        if (n <= 0)
            return true;
        length += room ? (size_t)n : 0;
    }
}

static void report(const char *name, bool in_time, int status, const char *text)
{
    if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        passed++;
        return;
    }
    bool skips = in_time && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED;
    *(skips ? &skipped : &failed) += 1;
    printf("%s %s: ", skips ? "SKIP" : "FAIL", name);
    if (!in_time)
        printf("no end within the time limit\n");
    else if (WIFSIGNALED(status))
        printf("killed by signal %d\n", WTERMSIG(status));
    else if (*text == '\0')
        printf("exit status %d\n", WEXITSTATUS(status));
    printf("%s", text);
    fflush(stdout);
}

static void check(const promise *p, const lock_info *lock, const char *name)
{
    int says[2];
    if (no_fork) {
        p->check(lock);
        passed++;
        return;
    }
    fflush(stdout);
    pid_t child = pipe(says) == 0 ? fork() : -1;
    if (child < 0) {
        perror("harness");
        exit(EXIT_FAILURE);
    }
    if (child == 0) {
        dup2(says[1], STDERR_FILENO);
        close(says[0]);
        close(says[1]);
        if (REORDERS_SEQ_CST && lock != NULL && strcmp(lock->name, "hapax_vw") == 0)
            skip("loads overtake stores here, seq_cst or not: an emulator");
        p->check(lock);
        exit(EXIT_SUCCESS); /* not _exit(): the leak checker looks now */
    }
    static char text[64 * 1024];
    int status;
    close(says[1]);
    bool in_time = listen(says[0], text, sizeof text);
    if (!in_time)
        kill(child, SIGKILL);
    close(says[0]);
    waitpid(child, &status, 0);
    report(name, in_time, status, text);
}

/* A build with few slots is there for the locks that wait in them. */
static bool concerns(const promise *p, const lock_info *lock)
{
    if (lock == NULL)
        return true;
    if (few_slots && lock->waiting != PAWL_SEMI_PRIVATE)
        return false;
    return p->concerns == NULL || p->concerns(lock);
}

static bool wanted(const char *name, int texts, char **text)
{
    for (int i = 0; i < texts; i++)
        if (strstr(name, text[i]) != NULL)
            return true;
    return texts == 0;
}

int harness_run(int argc, char **argv, const promise *promises, int count, const lock_info *locks,
                bool slots_are_few)
{
    few_slots = slots_are_few;
    bool list = false;
    const char *times = getenv("PAWL_TEST_SCALE");
    for (argc--, argv++; argc > 0 && strncmp(*argv, "--", 2) == 0; argc--, argv++) {
        if (strcmp(*argv, "--list") == 0) {
            list = true;
        } else if (strcmp(*argv, "--no-fork") == 0) {
            no_fork = true;
        } else if (strcmp(*argv, "--scale") == 0 && argc > 1) {
            times = argv[1];
            argc--, argv++;
        } else {
            fprintf(stderr, "unknown option %s\n", *argv);
            return 2;
        }
    }
    if (times != NULL && !((scale = strtod(times, NULL)) > 0)) {
        fprintf(stderr, "--scale: not a positive number: %s\n", times);
        return 2;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; promises[i].subject != NULL ? j < 1 : j < SUBJECTS && locks[j].name != NULL; j++) {
            const lock_info *lock = promises[i].subject != NULL ? NULL : &locks[j];
            char name[128];
            snprintf(name, sizeof name, "%s/%s", lock == NULL ? promises[i].subject : lock->name,
                     promises[i].name);
            if (!wanted(name, argc, argv) || !concerns(&promises[i], lock))
                continue;
            if (list)
                puts(name);
            else
                check(&promises[i], lock, name);
        }
    if (list)
        return 0;
    printf("%d passed, %d failed", passed, failed);
    if (skipped > 0)
        printf(", %d skipped", skipped);
    printf("\n");
    return failed > 0;
}
