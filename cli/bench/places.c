/* places.c - finds measuring programs and interposers */
#include "places.h"

#include "cli/library.h"

#include "preload/place/register.h"

#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this program. */
static const char *beside(void)
{
    static char self[PATH_MAX];
    static const char *folder;
    ssize_t length = folder == NULL ? readlink("/proc/self/exe", self, sizeof self - 1) : 0;
    if (length > 0)
        folder = dirname(self);
    return folder != NULL ? folder : ".";
}

/* The path if there is such a file, else NULL. */
static char *there(const char *format, ...)
{
    char *path;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&path, format, arguments) < 0)
        fail("out of memory");
    va_end(arguments);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

const char *find_program(const char *workload)
{
    char *path = there("%s/bench/pawl-bench-%s", beside(), workload);
    if (path == NULL)
        path = there("%s/%s/pawl-bench-%s", beside(), PAWL_LIBEXECDIR_FROM_BINDIR, workload);
    return path != NULL ? path : there("%s/pawl-bench-%s", PAWL_LIBEXECDIR, workload);
}

static char *find_library(const char *lock)
{
    char path[PATH_MAX];
    return library_find(lock, path, sizeof path) ? there("%s", path) : NULL;
}

const subject *preload_subjects(size_t *count)
{
    static subject *all;
    static size_t found;
    if (all == NULL) {
        all = allocate(preload_library_count + 1, sizeof *all);
        for (size_t i = 0; i < preload_library_count; i++) {
            const preload_library *l = &preload_libraries[i];
            const char *library = l->refused == NULL ? find_library(l->name) : NULL;
            if (library != NULL)
                all[found++] = (subject){
                    .name = l->name, .waiting = bench_lock_find(l->name)->waiting, .preload = library};
        }
        all[found++] = (subject){.name = BENCH_LIBC, .peer = true, .waiting = BENCH_SLEEPS};
    }
    *count = found;
    return all;
}

static const char *why(const char *reason)
{
    static char text[256];
    snprintf(text, sizeof text, "cannot be used under a program: %s", reason);
    return text;
}

const char *preload_refusal(const char *lock)
{
    for (size_t i = 0; i < preload_library_count; i++)
        if (strcmp(preload_libraries[i].name, lock) == 0)
            return why(preload_libraries[i].refused != NULL ? preload_libraries[i].refused
                                                            : "its library is not installed");
    return bench_lock_find(lock) != NULL ? why("there is no library that puts it there") : NULL;
}
