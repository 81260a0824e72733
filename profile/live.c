/* live.c - the tables of a running process, copied while it goes on */
#include "copy.h"
#include "live.h"

#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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
    l.copy = table_new();
    l.symbols = symbols_new(l.maps, strlen(l.maps), l.pid);
    if (!live_read(&l))
        fail("-p %u: %s", (unsigned)l.pid, strerror(errno));
    return l;
}

void live_close(live *l)
{
    symbols_free(l->symbols);
    table_free(l->copy);
    free(l->maps);
}

static bool copy(void *input, stats_table *to, size_t from, size_t size)
{
    const live *l = input;
    struct iovec here = {(char *)to + from, size}, there = {(char *)l->address + from, size};
    return process_vm_readv((pid_t)l->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool live_read(live *l)
{
    return table_copy(l->copy, copy, l) && copy(l, l->copy, offsetof(stats_table, locks),
                                                (size_t)table_rows(l->copy) * sizeof l->copy->locks[0]);
}
