/* launch.c - what is checked before a program is started with a lock under it */
#include "launch.h"

#include "cli.h"
#include "library.h"
#include "parse.h"
#include "program.h"

#include "preload/place/register.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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
