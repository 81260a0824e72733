/* start.c - `pawl check` and `pawl sim`: start the programs that do it
 *
 * They are programs of their own: their locks are compiled for the lab, which replaces what the locks in this program
 * need. They are found beside this program, as in a build directory, or where they were installed.
 */
#include "cli.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void try_to_start(const char *directory, const char *name, char **argv)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/pawl-%s", directory, name) < (int)sizeof path)
        execv(path, argv);
}

static _Noreturn void start(const char *name, char **argv)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        char *beside = dirname(self);
        try_to_start(beside, name, argv);
        char built[PATH_MAX];
        if (snprintf(built, sizeof built, "%s/%s", beside, name) < (int)sizeof built)
            try_to_start(built, name, argv);
    }
    try_to_start(PAWL_LIBEXECDIR, name, argv);
    fail("%s: cannot start pawl-%s (%s); it is built on x86-64, with glibc and %s", name, name,
         strerror(errno), strcmp(name, "sim") == 0 ? "libdw and hwloc" : "libdw");
}

int check_main(int argc, char **argv)
{
    (void)argc;
    start("check", argv);
}

int sim_main(int argc, char **argv)
{
    (void)argc;
    start("sim", argv);
}
