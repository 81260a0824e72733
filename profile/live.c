/* live.c - the tables of a running process, copied while it goes on */
#include "live.h"

#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

char *live_maps(uint32_t pid)
{
    char path[64], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", (unsigned)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    ssize_t length = getdelim(&text, &size, '\0', file);
    int error = errno;
    fclose(file);
    if (length > 0)
        return text;
    free(text);
    errno = error;
    return NULL;
}

/* Where the tables are, or 0. */
static uintptr_t find_tables(const char *maps)
{
    for (const char *line = maps; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        uintmax_t from, to;
        const char *name = strstr(line, "/memfd:" STATS_MAPPING);
        if (name != NULL && name < line + strcspn(line, "\n") && sscanf(line, "%jx-%jx", &from, &to) == 2 &&
            to - from >= STATS_TABLE_BYTES)
            return from;
    }
    return 0;
}

static uint32_t find_only(void)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    uint32_t found = 0;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        uint32_t pid =
            isdigit((unsigned char)entry->d_name[0]) ? (uint32_t)strtoul(entry->d_name, NULL, 10) : 0;
        char *maps = pid != 0 ? live_maps(pid) : NULL;
        if (maps != NULL && find_tables(maps) != 0) {
            if (found != 0)
                fail("there are several processes to look at, %u and %u among them: choose one with -p",
                     (unsigned)found, (unsigned)pid);
            found = pid;
        }
        free(maps);
    }
    if (processes != NULL)
        closedir(processes);
    if (found == 0)
        fail("no process was started by 'pawl profile' or 'pawl run --stats'");
    return found;
}

live live_open(uint32_t pid)
{
    live l = {.pid = pid != 0 ? pid : find_only()};
    l.maps = live_maps(l.pid);
    if (l.maps == NULL)
        fail("-p %u: %s", (unsigned)l.pid, strerror(errno == ENOENT ? ESRCH : errno != 0 ? errno : ESRCH));
    l.address = find_tables(l.maps);
    if (l.address == 0)
        fail("-p %u: was not started by 'pawl profile' or 'pawl run --stats'", (unsigned)l.pid);
    l.copy = mmap(NULL, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (l.copy == MAP_FAILED)
        fail("out of memory");
    l.symbols = symbols_new(l.maps, strlen(l.maps), l.pid);
    if (!live_read(&l))
        fail("-p %u: %s", (unsigned)l.pid, strerror(errno));
    return l;
}

void live_close(live *l)
{
    symbols_free(l->symbols);
    munmap(l->copy, STATS_TABLE_BYTES);
    free(l->maps);
}

static bool copy(live *l, size_t from, size_t size)
{
    struct iovec here = {(char *)l->copy + from, size}, there = {(char *)l->address + from, size};
    return size == 0 || process_vm_readv((pid_t)l->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static size_t part(uint32_t used, size_t most, size_t size)
{
    return (used + 1 < most ? used + 1 : most) * size;
}

bool live_read(live *l)
{
    const stats_table *t = l->copy;
    return copy(l, 0, offsetof(stats_table, stack_index)) &&
           copy(l, offsetof(stats_table, stacks), part(t->stacks_used, STATS_STACKS, sizeof t->stacks[0])) &&
           copy(l, offsetof(stats_table, frames), part(t->frames_used, STATS_FRAMES, sizeof t->frames[0])) &&
           copy(l, offsetof(stats_table, meets), sizeof t->meets) &&
           copy(l, offsetof(stats_table, details),
                part(t->details_used, STATS_DETAILS, sizeof t->details[0])) &&
           copy(l, offsetof(stats_table, locks), part(t->locks_used, STATS_LOCKS, sizeof t->locks[0]));
}
