/* library.c - the libraries that are put under programs: libpawl-<lock>.so */
#include "library.h"

#include "cli.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool own_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length < 0)
        return false;
    folder[length] = '\0';
    dirname(folder);
    return true;
}

bool library_find(const char *lock, char *path, size_t size)
{
    char self[PATH_MAX];
    if (own_folder(self, sizeof self)) {
        static const char *const beside[] = {"preload", PAWL_LIBDIR_FROM_BINDIR};
        for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            int n = snprintf(path, size, "%s/%s/libpawl-%s.so", self, beside[i], lock);
            if (n < (int)size && access(path, R_OK) == 0)
                return true;
        }
    }
    return snprintf(path, size, "%s/libpawl-%s.so", PAWL_LIBDIR, lock) < (int)size && access(path, R_OK) == 0;
}

/* Two of them under one program would each take the other for glibc. */
static bool is_ours(const char *path, size_t length)
{
    static const char prefix[] = "libpawl-";
    const char *slash = memrchr(path, '/', length);
    const char *name = slash != NULL ? slash + 1 : path;
    return (size_t)(path + length - name) >= sizeof prefix - 1 &&
           memcmp(name, prefix, sizeof prefix - 1) == 0;
}

void library_preload(const char *path)
{
    static const char separators[] = " :"; /* there is no way to write them */
    if (strpbrk(path, separators) != NULL)
        fail("'%s': cannot be preloaded: there is a space or a colon in its path", path);
    const char *before = getenv("LD_PRELOAD");
    if (before == NULL)
        before = "";
    char *all = allocate(strlen(path) + strlen(before) + 2, 1);
    size_t used = strlen(strcpy(all, path));
    while (*before != '\0') {
        size_t length = strcspn(before, separators);
        if (length > 0 && !is_ours(before, length)) {
            all[used++] = ':';
            memcpy(all + used, before, length);
            used += length;
        }
        before += length;
        before += strspn(before, separators);
    }
    if (setenv("LD_PRELOAD", all, 1) != 0)
        fail("out of memory");
    free(all);
}
