/* start.c - decides at the start of the program whether to collect, and writes the report at its end
 *
 * PAWL_STATS        the file for the JSON; the table goes to the same name with .txt. Descendants append their process id
 * PAWL_STATS_TABLE  "-": the table goes to standard error. Set by `pawl run --stats`
 *
 * PAWL_PROFILE      the file of `pawl profile`, which reads the tables itself; both may be set
 *
 * A process that ends through _exit(), exec or a signal writes nothing by itself.
 */
#include "preload/fork/epoch.h"
#include "stats.h"
#include "report.h"
#include "start.h"

#include "src/park/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char path[PATH_MAX];
    pid_t started;
    bool reports; /* PAWL_STATS is set */
    bool descendant;
    bool to_stderr;
    struct stat error_output; /* what descriptor 2 was */
} request;

const char *stats_variable(const char *name)
{
    size_t length = strlen(name);
    for (char **e = environ; e != NULL && *e != NULL; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

/* The program may change its directory before it ends. */
static bool make_absolute(const char *path)
{
    size_t used = 0;
    if (path[0] != '/') {
        if (getcwd(request.path, sizeof request.path - 1) == NULL)
            return false;
        used = strlen(request.path);
        request.path[used++] = '/';
    }
    size_t length = strlen(path);
    if (used + length >= sizeof request.path - sizeof ".4194304.txt.4194304~")
        return false;
    memcpy(request.path + used, path, length + 1);
    return true;
}

/* Whether our parent has the same request: then the file is an ancestor's. */
static bool inherited(const char *path)
{
    char name[32], wanted[PATH_MAX + 16], text[1024];
    snprintf(name, sizeof name, "/proc/%d/environ", (int)getppid());
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t length = (size_t)snprintf(wanted, sizeof wanted, "PAWL_STATS=%s", path) + 1, matched = 0;
    bool same = true; /* so far in this string of the environment */
    ssize_t n;
    while (matched < length && (n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n && matched < length; i++) {
            same = same && text[i] == wanted[matched];
            matched = same ? matched + 1 : 0;
            same = same || text[i] == '\0';
        }
    }
    close(fd);
    return matched == length;
}

static void write_report(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (!stats_on || atomic_flag_test_and_set(&begun))
        return;
    int before = errno;
    epoch_now(); /* in a child, the tables are the parent's until then */
    atomic_store_explicit(&stats_tables->ended_ns, pawl_nanoseconds(CLOCK_MONOTONIC), memory_order_relaxed);
    if (!request.reports)
        return;
    pid_t self = getpid();
    bool main = self == request.started && !request.descendant;
    if (!main)
        snprintf(request.path + strlen(request.path), sizeof ".4194304", ".%d", (int)self);
    struct stat now;
    bool error_output = fstat(STDERR_FILENO, &now) == 0 && now.st_dev == request.error_output.st_dev &&
                        now.st_ino == request.error_output.st_ino;
    stats_report(request.path, request.to_stderr, error_output, main);
    errno = before;
}

static void begin(void)
{
    const char *path = stats_variable("PAWL_STATS"), *book = stats_variable("PAWL_PROFILE");
    request.reports = path != NULL && path[0] != '\0' && make_absolute(path);
    if (!request.reports && (book == NULL || book[0] == '\0'))
        return;
    const char *table = stats_variable("PAWL_STATS_TABLE");
    request.to_stderr = table != NULL && strcmp(table, "-") == 0;
    request.started = getpid();
    request.descendant = request.reports && inherited(path);
    if (fstat(STDERR_FILENO, &request.error_output) != 0)
        request.error_output.st_ino = 0;
    if (!stats_table_begin(book, request.reports))
        return;
    if (stats_tables->depth > 1)
        stats_stack_prepare();
    stats_on = true;
    count_in_fast_paths();
    at_quick_exit(write_report);
}

__attribute__((constructor)) static void start(void)
{
    int before = errno; /* a program may rely on the zero it begins with */
    begin();
    errno = before;
}

__attribute__((destructor)) static void finish(void)
{
    write_report();
}
