/* maps.c - what a process has mapped, by paths that lead to it from here */
#include "collected.h"

#include "cli/cli.h"
#include "profile/live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a container, the same path may lead to another file. */
static bool sees_other_files(uint32_t pid)
{
    char path[64];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%u/ns/mnt", (unsigned)pid);
    return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_ino != theirs.st_ino;
}

static char *with_root(const char *maps, uint32_t pid)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (const char *line = maps, *end; to != NULL && *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        const char *path = memchr(line, '/', (size_t)(end - line));
        int before = (int)((path != NULL ? path : end) - line);
        fprintf(to, "%.*s", before, line);
        if (path != NULL)
            fprintf(to, "/proc/%u/root%.*s", (unsigned)pid, (int)(end - path), path);
    }
    if (to == NULL || fclose(to) != 0)
        fail("out of memory");
    return text;
}

char *attach_maps(uint32_t pid)
{
    uint32_t thread = attach_alive(pid);
    char *maps = live_maps(thread);
    if (maps == NULL || !sees_other_files(thread))
        return maps;
    char *text = with_root(maps, thread);
    free(maps);
    return text;
}

void attach_program(uint32_t pid, char *room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%u/exe", (unsigned)attach_alive(pid));
    ssize_t length = readlink(link, room, PATH_MAX - 1);
    strcpy(length > 0 ? room + length : room, length > 0 ? "" : "?");
}
