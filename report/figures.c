/* figures.c - has gnuplot draw into a temporary folder, then moves all figures to where they belong */
#include "figures.h"

#include "cli/cli.h"
#include "cli/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char script_name[] = "script", log_name[] = "log";

typedef struct studio {
    const char *directory;
    int fd; /* of the folder */
} studio;

/* Leaves nothing behind. */
static _Noreturn void give_up(const studio *s, const char *format, const char *why)
{
    janitor_done();
    fail(format, s->directory, why);
}

static studio open_studio(const char *directory)
{
    bool made = mkdir(directory, 0777) == 0;
    if (!made && errno != EEXIST)
        fail("--figures '%s': %s", directory, strerror(errno));
    const char *folder = janitor_folder("--figures", directory, ".pawl-XXXXXX", made);
    studio s = {.directory = directory, .fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (s.fd < 0)
        give_up(&s, "--figures '%s': %s", strerror(errno));
    return s;
}

/* "mutexbench", "max", "value" -> "mutexbench-max-value-3.svg": only characters that are at home in file names. */
static char *file_name(const json_t *section, const json_t *chart, size_t number, const char *format)
{
    const char *preset = json_string_value(json_object_get(section, "preset"));
    char *name;
    if (asprintf(&name, "%02zu-%.40s-%.40s%s%s.%s", number,
                 json_string_value(json_object_get(section, "workload")), preset != NULL ? preset : "",
                 preset != NULL ? "-" : "", json_string_value(json_object_get(chart, "kind")), format) < 0)
        fail("out of memory");
    for (char *c = name; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", *c) == NULL)
            *c = '_';
    return name;
}

typedef void figure_action(const json_t *book, const json_t *section, const json_t *chart, const char *file,
                           const char *format, void *input);

static void for_each_figure(const json_t *book, const char *format, figure_action *act, void *input)
{
    size_t i, k, number = 0;
    json_t *section, *chart;
    json_array_foreach (json_object_get(book, "sections"), i, section)
        json_array_foreach (json_object_get(section, "charts"), k, chart) {
            char *file = file_name(section, chart, ++number, format);
            act(book, section, chart, file, format, input);
            free(file);
        }
}

static void script_figure(const json_t *book, const json_t *section, const json_t *chart, const char *file,
                          const char *format, void *script)
{
    const char *preset = json_string_value(json_object_get(section, "preset"));
    char *heading;
    if (asprintf(&heading, "%s%s%s: %s", json_string_value(json_object_get(section, "workload")),
                 preset != NULL ? " " : "", preset != NULL ? preset : "",
                 json_string_value(json_object_get(chart, "title"))) < 0)
        fail("out of memory");
    plot_write(script, book, chart, heading, file, format);
    free(heading);
}

static void write_script(studio *s, const json_t *book, const char *format)
{
    int fd = openat(s->fd, script_name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    FILE *script = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (script == NULL)
        give_up(s, "--figures '%s': %s", strerror(errno));
    for_each_figure(book, format, script_figure, script);
    if (ferror(script) != 0 || fclose(script) != 0)
        give_up(s, "--figures '%s': %s", strerror(errno));
}

enum { NOT_THERE = 127 };

/* In the child. */
static _Noreturn void become_gnuplot(const studio *s)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would look at what it draws */
    int log = openat(s->fd, log_name, O_WRONLY | O_CREAT, 0666), nothing = open("/dev/null", O_RDONLY);
    if (fchdir(s->fd) != 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(1);
    execlp("gnuplot", "gnuplot", "-d", script_name, (char *)NULL); /* -d: nobody's own settings */
    _exit(errno == ENOENT ? NOT_THERE : 1);
}

static void run_gnuplot(studio *s)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(s);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        give_up(s, "--figures '%s': cannot start gnuplot: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
        give_up(s, "--figures '%s': %s", "gnuplot is not installed");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        give_up(s, "--figures '%s': %s", "gnuplot failed");
}

static void move_figure(const json_t *book, const json_t *section, const json_t *chart, const char *file,
                        const char *format, void *input)
{
    (void)book, (void)section, (void)chart, (void)format;
    studio *s = input;
    char *to;
    if (asprintf(&to, "%s/%s", s->directory, file) < 0)
        fail("out of memory");
    if (renameat(s->fd, file, AT_FDCWD, to) != 0)
        give_up(s, "--figures '%s': %s", strerror(errno));
    free(to);
}

void figures_write(const json_t *book, const char *directory, const char *format)
{
    studio s = open_studio(directory);
    write_script(&s, book, format);
    run_gnuplot(&s);
    for_each_figure(book, format, move_figure, &s);
    close(s.fd);
    janitor_done();
}
