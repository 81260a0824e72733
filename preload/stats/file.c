/* file.c - writes a file that appears whole or not at all */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void stats_file_open_fd(stats_file *f, int fd)
{
    f->fd = fd;
    f->error = 0;
    f->temporary = false;
    f->path = NULL;
    f->used = 0;
}

void stats_file_open(stats_file *f, const char *path)
{
    stats_file_open_fd(f, -1);
    f->path = path;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) { /* a device or a pipe is not replaced */
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        snprintf(f->name, sizeof f->name, "%s.%d~", path, (int)getpid());
        unlink(f->name); /* left by a process of this id that was killed in between */
        f->fd = open(f->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        f->temporary = f->fd >= 0;
    }
    if (f->fd < 0)
        f->error = errno;
}

/* Without the signals that may come of it: neither a reader that has gone away nor a limit on the size of files must change
 * the program's exit status. */
static int write_all(int fd, const char *text, size_t size)
{
    sigset_t held_off, before;
    sigemptyset(&held_off);
    sigaddset(&held_off, SIGPIPE);
    sigaddset(&held_off, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &held_off, &before);
    int error = 0;
    while (size > 0 && error == 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR)
            error = errno;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    int sent = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (sent != 0 && !sigismember(&before, sent)) {
        sigemptyset(&held_off);
        sigaddset(&held_off, sent);
        sigtimedwait(&held_off, NULL, &(struct timespec){0});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void flush(stats_file *f)
{
    if (f->error == 0)
        f->error = write_all(f->fd, f->text, f->used);
    f->used = 0;
}

void stats_file_print(stats_file *f, const char *format, ...)
{
    enum { LONGEST = 1024 };
    if (sizeof f->text - f->used < LONGEST)
        flush(f);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(f->text + f->used, LONGEST, format, arguments);
    va_end(arguments);
    f->used += n < LONGEST ? (size_t)n : LONGEST - 1;
}

int stats_file_close(stats_file *f)
{
    flush(f);
    if (f->path != NULL && f->fd >= 0 && close(f->fd) != 0 && f->error == 0)
        f->error = errno;
    if (f->temporary && f->error == 0 && rename(f->name, f->path) != 0)
        f->error = errno;
    if (f->temporary && f->error != 0)
        unlink(f->name);
    return f->error;
}
