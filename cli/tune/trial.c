/* trial.c - one run of the command */
#include "tune.h"

#include "cli/launch.h"
#include "cli/library.h"

#include "profile/book.h"
#include "src/park/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void ring(int signal)
{
    (void)signal;
}

static void set_alarm(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - floor(seconds)) * 1e6)}};
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = ring}, NULL); /* no SA_RESTART: it ends wait4() */
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* What is put under a command, and what it is told. */
typedef struct ground {
    const char *library;         /* NULL: nothing */
    const char *variable, *path; /* where it is to write what it measures; NULL: nowhere */
} ground;

static _Noreturn void become(const tuning *s, const candidate *c, int output, const ground *g)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        _exit(CANNOT_EXECUTE);
    unsetenv("PAWL_STATS");
    unsetenv("PAWL_PROFILE");
    if (g->variable != NULL)
        launch_set(g->variable, g->path);
    if (g->library != NULL)
        library_preload(g->library);
    if (c->variable != NULL)
        launch_set(c->variable, c->value);
    launch_exec(s->argv);
}

/* The last line it printed, to say why it failed. */
static void show_end(FILE *text, char *room, size_t size)
{
    rewind(text);
    room[0] = '\0';
    char line[256];
    while (fgets(line, sizeof line, text) != NULL)
        if (line[0] != '\n')
            snprintf(room, size, ": %.*s", (int)strcspn(line, "\n"), line);
}

static void check_status(const tuning *s, const candidate *c, int status, FILE *text)
{
    char end[300];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    show_end(text, end, sizeof end);
    char how[64];
    fail("'%s' (%s): %s%s", s->argv[0], c->name, launch_end(status, how, sizeof how), end);
}

/* The last match counts: programs say at the end what they did. */
static double printed(const tuning *s, const candidate *c, FILE *text)
{
    double value = 0;
    bool any = false;
    char *line = NULL;
    size_t room = 0;
    rewind(text);
    while (getline(&line, &room, text) > 0) {
        regmatch_t match[2];
        if (regexec(&s->metric, line, 2, match, 0) != 0)
            continue;
        regmatch_t *part = match[1].rm_so >= 0 ? &match[1] : &match[0];
        char *end;
        double found = strtod(line + part->rm_so, &end);
        if (end != line + part->rm_so) {
            value = found;
            any = true;
        }
    }
    free(line);
    if (!any)
        fail("--metric '%s': '%s' (%s) printed no number like this", s->metric_text, s->argv[0], c->name);
    if (!isfinite(value) || value <= 0)
        fail("--metric '%s': '%s' (%s) printed %g: only numbers above 0 can be compared", s->metric_text,
             s->argv[0], c->name, value);
    return value;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static bool run(const tuning *s, const candidate *c, const ground *g, double limit, double *values)
{
    FILE *text = tmpfile();
    if (text == NULL)
        fail("a temporary file: %s", strerror(errno));
    fflush(NULL);
    uint64_t start = pawl_nanoseconds(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child < 0)
        fail("'%s': %s", s->argv[0], strerror(errno));
    if (child == 0)
        become(s, c, fileno(text), g);
    set_alarm(limit);
    struct rusage usage;
    int status;
    bool late = false;
    while (wait4(child, &status, 0, &usage) < 0) {
        late = true;
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    set_alarm(0);
    values[WALL] = (double)(pawl_nanoseconds(CLOCK_MONOTONIC) - start) / 1e9;
    values[CPU] = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (!late) {
        check_status(s, c, status, text);
        values[PRINTED] = s->metric_text != NULL ? printed(s, c, text) : NAN;
    }
    fclose(text);
    return !late;
}

bool tune_run(const tuning *s, const candidate *c, double limit, double *values)
{
    return run(s, c, &(ground){.library = c->library}, limit, values);
}

static void find_worst(const stats_table *t, const stats_row *rows, void *input)
{
    (void)rows;
    uint64_t *worst = input, ns = stats_get(&t->worst_call_ns);
    *worst = ns > *worst ? ns : *worst;
}

/* Of glibc's own mutexes, which have no tables. */
static double worst_native_wait(const tuning *s, const candidate *c)
{
    char path[64], library[PATH_MAX];
    double ignored[QUANTITIES];
    uint64_t worst = 0;
    int fd = memfd_create("pawl-worst", MFD_CLOEXEC);
    if (!library_find("native", library, sizeof library))
        fail("--waits: %s is not installed", library);
    if (fd < 0 || pwrite(fd, &worst, sizeof worst, 0) != (ssize_t)sizeof worst)
        fail("--waits: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    run(s, c, &(ground){library, "PAWL_WORST", path}, 0, ignored);
    if (pread(fd, &worst, sizeof worst, 0) != (ssize_t)sizeof worst)
        fail("--waits: %s", strerror(errno));
    close(fd);
    return (double)worst / 1e9;
}

double tune_worst_wait(const tuning *s, const candidate *c)
{
    if (c->lock == NULL)
        return worst_native_wait(s, c);
    char path[64];
    double ignored[QUANTITIES];
    uint64_t worst = 0;
    int fd = profile_book_make(1, 1 << 10, path, sizeof path);
    run(s, c, &(ground){c->library, "PAWL_PROFILE", path}, 0, ignored);
    profile_book_read(fd, find_worst, &worst);
    close(fd);
    return (double)worst / 1e9;
}
