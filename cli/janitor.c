/* janitor.c - a process that waits for the end of this one and then removes its folder, because a signal
 * runs no exit handlers */
#include "janitor.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[PATH_MAX];
static const char *emptied; /* to be removed, too, or NULL */
static pid_t janitor;
static int leash = -1; /* closed when this process ends */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

/* A child may outlive its parent for a moment, and still write into the folder. */
static void remove_all(void)
{
    enum { TRIES = 100, PAUSE_US = 20000 };
    for (int i = 0; i < TRIES && access(folder, F_OK) == 0; i++)
        if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
            usleep(PAUSE_US);
    if (emptied != NULL)
        rmdir(emptied);
}

/* Not to be disturbed: a terminal sends its signals to all processes of a command. */
static _Noreturn void wait_and_remove(int end)
{
    char byte;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    while (read(end, &byte, 1) < 0 && errno == EINTR)
        ;
    remove_all();
    _exit(0);
}

static bool make_folder(const char *parent, const char *pattern)
{
    if (snprintf(folder, sizeof folder, "%s/%s", parent, pattern) < (int)sizeof folder)
        return mkdtemp(folder) != NULL;
    errno = ENAMETOOLONG;
    return false;
}

const char *janitor_folder(const char *what, const char *parent, const char *pattern, bool parent_too)
{
    int ends[2];
    emptied = parent_too ? parent : NULL;
    if (!make_folder(parent, pattern) || pipe2(ends, O_CLOEXEC) != 0 || (janitor = fork()) < 0) {
        int error = errno;
        remove_all();
        fail("%s '%s': %s", what, parent, strerror(error));
    }
    if (janitor == 0) {
        close(ends[1]);
        wait_and_remove(ends[0]);
    }
    close(ends[0]);
    leash = ends[1];
    return folder;
}

void janitor_done(void)
{
    close(leash);
    while (waitpid(janitor, NULL, 0) < 0 && errno == EINTR)
        ;
}
