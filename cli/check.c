/* check.c - `pawl check`: starts the program that does it
 *
 * The checker is a program of its own: its locks are compiled for the lab, which replaces what the locks in
 * this program need. It is found beside this program, as in a build directory, or where it was installed.
 */
#include "cli.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void try_to_start(const char *directory, char **argv)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/pawl-check", directory) < (int)sizeof path)
        execv(path, argv);
}

int check_main(int argc, char **argv)
{
    (void)argc;
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        char *beside = dirname(self);
        try_to_start(beside, argv);
        char built[PATH_MAX];
        if (snprintf(built, sizeof built, "%s/check", beside) < (int)sizeof built)
            try_to_start(built, argv);
    }
    try_to_start(PAWL_LIBEXECDIR, argv);
    fail("check: cannot start pawl-check (%s); it is built on x86-64, with libdw", strerror(errno));
}
