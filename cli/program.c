/* program.c - the file behind a command, and what keeps the dynamic linker from preloading into it
 *
 * Where LD_PRELOAD has no effect it is silently ignored, and the user would measure the wrong lock.
 */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool executable(const char *path)
{
    struct stat there;
    return access(path, X_OK) == 0 && stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

bool program_find(const char *command, char *path, size_t size)
{
    if (strchr(command, '/') != NULL)
        return snprintf(path, size, "%s", command) < (int)size && executable(path);
    const char *from = getenv("PATH");
    if (from == NULL)
        from = "/bin:/usr/bin";
    while (*command != '\0') {
        size_t length = strcspn(from, ":");
        const char *folder = length > 0 ? from : ".";
        int n = snprintf(path, size, "%.*s/%s", length > 0 ? (int)length : 1, folder, command);
        if (n < (int)size && executable(path))
            return true;
        if (from[length] == '\0')
            break;
        from += length + 1;
    }
    return false;
}

/* A file with rights of its own puts the dynamic linker into its secure mode. */
static const char *rights(int fd)
{
    struct stat there;
    if (fstat(fd, &there) != 0)
        return NULL;
    bool user = (there.st_mode & S_ISUID) != 0 && there.st_uid != getuid();
    bool group = (there.st_mode & S_ISGID) != 0 && there.st_gid != getgid();
    if (user || group)
        return "it is set-user-ID or set-group-ID, and the dynamic linker preloads nothing into such "
               "programs";
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "it has file capabilities, and the dynamic linker preloads nothing into such programs";
    return NULL;
}

/* By the name of its dynamic linker, such as /lib/ld-musl-x86_64.so.1. */
static const char *linker(int fd, const ElfW(Phdr) * segment)
{
    char path[PATH_MAX] = "";
    size_t size = segment->p_filesz < sizeof path ? segment->p_filesz : sizeof path - 1;
    if (pread(fd, path, size, (off_t)segment->p_offset) != (ssize_t)size)
        return NULL;
    const char *slash = strrchr(path, '/');
    if (strncmp(slash != NULL ? slash + 1 : path, "ld-musl", strlen("ld-musl")) == 0)
        return "it is linked with musl, and the libraries of pawl are for glibc";
    return NULL;
}

static const char *elf(int fd, const ElfW(Ehdr) * head)
{
    ElfW(Ehdr) self;
    int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = own >= 0 && pread(own, &self, sizeof self, 0) == sizeof self;
    if (own >= 0)
        close(own);
    if (known && (head->e_ident[EI_CLASS] != self.e_ident[EI_CLASS] || head->e_machine != self.e_machine))
        return "it is built for another machine than the libraries of pawl";
    for (int i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(head->e_phoff + (size_t)i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
            return NULL;
        if (segment.p_type == PT_INTERP)
            return linker(fd, &segment);
    }
    return "it is statically linked, so that there is nothing to put another lock under";
}

/* The path of "#! path argument" at the beginning of a file, cut out in place. */
static char *interpreter(char *text)
{
    char *path = text + 2 + strspn(text + 2, " \t");
    path[strcspn(path, " \t\n")] = '\0';
    return path;
}

const char *program_obstacle(const char *path)
{
    union {
        ElfW(Ehdr) elf;
        char text[PATH_MAX];
    } head;
    char script[sizeof head.text];
    const char *obstacle = NULL;
    for (int depth = 0; depth < 5 && obstacle == NULL; depth++) { /* as deep as the kernel follows scripts */
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return NULL; /* it may be executable all the same */
        ssize_t length = read(fd, &head, sizeof head - 1);
        bool is_elf = length >= (ssize_t)sizeof head.elf && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0;
        bool is_script = length > 2 && memcmp(head.text, "#!", 2) == 0;
        if (is_elf) {
            obstacle = rights(fd);
            if (obstacle == NULL)
                obstacle = elf(fd, &head.elf);
        }
        close(fd);
        if (!is_script && !is_elf && length >= 0)
            return "it is neither a program for Linux (ELF) nor a script that begins with #!";
        if (!is_script)
            break;
        head.text[length] = '\0';
        path = strcpy(script, interpreter(head.text));
    }
    return obstacle;
}
