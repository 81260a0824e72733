/* launch.c - what is checked before a program is started with a lock under it */
#include "launch.h"

#include "cli.h"
#include "library.h"
#include "parse.h"
#include "program.h"

#include "preload/place/register.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char launch_default_lock[] = "pawl_mutex";

static const char *library_name(const void *table, size_t i)
{
    return ((const preload_library *)table)[i].name;
}

static const preload_library *find(const char *name)
{
    for (size_t i = 0; i < preload_library_count; i++)
        if (strcmp(preload_libraries[i].name, name) == 0)
            return &preload_libraries[i];
    const char *hint = did_you_mean(name, library_name, preload_libraries, preload_library_count);
    fail("--lock '%s': no such lock%s", name, *hint != '\0' ? hint : "; 'pawl run --list' shows them");
}

static const char *setting_name(const void *table, size_t i)
{
    return ((const preload_setting *)table)[i].name;
}

const preload_setting *launch_setting(const char *what, const char *name)
{
    for (size_t i = 0; i < preload_setting_count; i++)
        if (strcmp(preload_settings[i].name, name) == 0)
            return &preload_settings[i];
    fail("%s '%s': no such setting of pawl_mutex%s", what, name,
         did_you_mean(name, setting_name, preload_settings, preload_setting_count));
}

void launch_check(const char *name, const char *command, char *library, size_t size)
{
    const preload_library *lock = find(name);
    if (lock->refused != NULL)
        fail("--lock '%s': cannot be used under a program: %s", name, lock->refused);
    if (command == NULL)
        return;
    check_environment();
    if (getenv("PAWL_MUTEX") != NULL)
        launch_setting("PAWL_MUTEX", getenv("PAWL_MUTEX"));
    char program[PATH_MAX];
    if (!library_find(name, library, size))
        fail("--lock '%s': %s is not installed", name, library);
    if (program_find(command, program, sizeof program)) {
        const char *obstacle = program_obstacle(program);
        if (obstacle != NULL)
            fail("'%s': %s", command, obstacle);
    }
}

/* Of those that kill. */
static const char *const signals[] = {
    [SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
    [SIGABRT] = "ABRT", [SIGBUS] = "BUS",       [SIGFPE] = "FPE",   [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
    [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",     [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
    [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",     [SIGPROF] = "PROF", [SIGPOLL] = "POLL", [SIGSYS] = "SYS",
    [SIGPWR] = "PWR",   [SIGVTALRM] = "VTALRM",
};

const char *launch_end(int status, char *text, size_t size)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == 0)
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    else if ((size_t)number < sizeof signals / sizeof signals[0] && signals[number] != NULL)
        snprintf(text, size, "killed by SIG%s", signals[number]);
    else
        snprintf(text, size, "killed by signal %d", number);
    return text;
}

void launch_set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        fail("out of memory");
}

_Noreturn void launch_exec(char **argv)
{
    restore_signals();
    execvp(argv[0], argv);
    int error = errno;
    char path[PATH_MAX];
    bool there = error == ENOENT && program_find(argv[0], path, sizeof path);
    fprintf(stderr, "pawl: '%s': %s\n", argv[0], there ? "its interpreter does not exist" : strerror(error));
    exit(error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}
