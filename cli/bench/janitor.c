/* janitor.c - a process that waits for the end of this one and then removes its folder: a signal runs no
 * exit handlers */
#include "janitor.h"

#include "cli/cli.h"

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
static pid_t janitor;
static int leash = -1; /* closed when this process ends */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

static _Noreturn void wait_and_remove(int end)
{
    char byte;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while (read(end, &byte, 1) < 0 && errno == EINTR)
        ;
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

const char *janitor_folder(void)
{
    const char *parent = getenv("TMPDIR");
    int ends[2];
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    if (snprintf(folder, sizeof folder, "%s/pawl-bench-XXXXXX", parent) >= (int)sizeof folder ||
        mkdtemp(folder) == NULL)
        fail("%s: cannot make a folder there: %s", parent, strerror(errno));
    if (pipe2(ends, O_CLOEXEC) != 0 || (janitor = fork()) < 0) {
        int error = errno;
        rmdir(folder);
        fail("cannot start a process: %s", strerror(error));
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
