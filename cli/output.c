/* output.c - collects a result in memory, then writes it to a temporary file and renames that */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 120 };

/* A file that is to appear, or to be replaced, under its name. */
typedef struct target {
    int fd;
    char *name;      /* links resolved: rename() would replace the link itself             */
    char *temporary; /* in the same folder; NULL if the target is a device or a pipe,
                        which is written to and never replaced                             */
    sigset_t before; /* if there is one: the signals that were let through before */
} target;

static char *resolve(const char *path)
{
    char *name = realpath(path, NULL);
    if (name == NULL)
        name = strdup(path);
    if (name == NULL)
        fail("out of memory");
    return name;
}

static mode_t mode_of_new_files(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static void free_target(target *t)
{
    if (t->temporary != NULL)
        sigprocmask(SIG_SETMASK, &t->before, NULL);
    free(t->name);
    free(t->temporary);
}

/* Leaves nothing behind. Returns the error. */
static int give_up(target *t, int error)
{
    if (t->temporary != NULL)
        unlink(t->temporary);
    free_target(t);
    return error;
}

static int open_temporary(target *t, mode_t mode)
{
    if (asprintf(&t->temporary, "%s.XXXXXX", t->name) < 0)
        fail("out of memory");
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &t->before); /* none is to end the process while the file is there */
    t->fd = mkostemp(t->temporary, O_CLOEXEC);
    if (t->fd >= 0 && fchmod(t->fd, mode) == 0)
        return 0;
    int error = errno;
    if (t->fd >= 0)
        close(t->fd);
    return give_up(t, error);
}

/* A descriptor of this process, or -1. It may be a file that others write to, too, and that must not be replaced. */
static int standard_stream(const char *path)
{
    static const struct {
        const char *name;
        int fd;
    } streams[] = {{"/dev/stdout", STDOUT_FILENO},     {"/dev/stderr", STDERR_FILENO},
                   {"/dev/fd/1", STDOUT_FILENO},       {"/dev/fd/2", STDERR_FILENO},
                   {"/proc/self/fd/1", STDOUT_FILENO}, {"/proc/self/fd/2", STDERR_FILENO}};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        if (strcmp(path, streams[i].name) == 0)
            return streams[i].fd;
    return -1;
}

/* 0 or an errno value. */
static int open_target(target *t, const char *path)
{
    *t = (target){.name = resolve(path)};
    int stream = standard_stream(path);
    if (stream >= 0) {
        t->fd = fcntl(stream, F_DUPFD_CLOEXEC, 0);
        return t->fd < 0 ? give_up(t, errno) : 0;
    }
    struct stat there;
    bool exists = stat(t->name, &there) == 0;
    if (!exists && *path != '\0')
        return open_temporary(t, mode_of_new_files());
    /* For a plain file this asks whether it may be replaced: rename() would ask the folder only. */
    t->fd = open(t->name, O_WRONLY | O_CLOEXEC);
    if (t->fd < 0)
        return give_up(t, errno);
    if (!S_ISREG(there.st_mode))
        return 0;
    close(t->fd);
    return open_temporary(t, there.st_mode & 07777);
}

/* 0 or an errno value. */
static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR)
            return errno;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

void output_check_as(const char *option, const char *path)
{
    struct stat there;
    if (path == NULL || (stat(path, &there) == 0 && S_ISFIFO(there.st_mode)))
        return; /* opening a pipe would already tell its reader something */
    target t;
    int error = open_target(&t, path);
    if (error != 0)
        fail("%s '%s': %s", option, path, strerror(error));
    close(t.fd);
    if (t.temporary != NULL)
        unlink(t.temporary);
    free_target(&t);
}

void output_check(const char *path)
{
    output_check_as("--output", path);
}

static bool are_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void output_check_apart(const char *path, const char *input)
{
    struct stat a, b;
    if (path != NULL && stat(path, &a) == 0 && S_ISREG(a.st_mode) && stat(input, &b) == 0 && are_one(&a, &b))
        fail("--output '%s': is a file that is read", path);
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool folder_of(const char *path, struct stat *there)
{
    char *folder = strndup(path, (size_t)(name_in(path) - path));
    bool found = folder != NULL && stat(*folder != '\0' ? folder : ".", there) == 0;
    free(folder);
    return found;
}

bool output_is_same(const char *a, const char *b)
{
    struct stat one, other;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return strcmp(a, b) == 0;
    bool exists = stat(a, &one) == 0;
    if (exists != (stat(b, &other) == 0) || (exists && !S_ISREG(one.st_mode)))
        return false;
    if (exists)
        return are_one(&one, &other);
    return strcmp(name_in(a), name_in(b)) == 0 && folder_of(a, &one) && folder_of(b, &other) &&
           are_one(&one, &other);
}

void output_open(output *o, const char *path)
{
    *o = (output){.path = path, .option = "--output"};
    o->file = open_memstream(&o->text, &o->size);
    if (o->file == NULL)
        fail("out of memory");
}

static int write_file(const char *path, const char *text, size_t size)
{
    target t;
    int error = open_target(&t, path);
    if (error != 0)
        return error;
    error = write_all(t.fd, text, size);
    if (close(t.fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && t.temporary != NULL && rename(t.temporary, t.name) != 0)
        error = errno;
    if (error != 0)
        return give_up(&t, error);
    free_target(&t);
    return 0;
}

bool output_try_close(output *o)
{
    if (ferror(o->file) != 0 || fclose(o->file) != 0)
        fail("out of memory");
    int error =
        o->path == NULL ? write_all(STDOUT_FILENO, o->text, o->size) : write_file(o->path, o->text, o->size);
    free(o->text);
    if (error != 0 && o->path == NULL)
        complain("standard output: %s", strerror(error));
    else if (error != 0)
        complain("%s '%s': %s", o->option, o->path, strerror(error));
    return error == 0;
}

void output_close(output *o)
{
    if (!output_try_close(o))
        exit(EXIT_CANNOT);
}

unsigned output_width(const output *o)
{
    struct winsize size;
    if (o->path != NULL || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col;
}
