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
#include <time.h>

char *live_maps(uint32_t pid)
{
    char path[64], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", (unsigned)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    errno = ESRCH; /* a process that has ended has no maps */
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

static bool has_tables(uint32_t pid)
{
    char *maps = live_maps(pid);
    bool found = maps != NULL && find_tables(maps) != 0;
    free(maps);
    return found;
}

static uint32_t find_only(void)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    uint32_t found = 0;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        uint32_t pid =
            isdigit((unsigned char)entry->d_name[0]) ? (uint32_t)strtoul(entry->d_name, NULL, 10) : 0;
        if (pid != 0 && has_tables(pid)) {
            if (found != 0)
                fail("there are several processes to look at, %u and %u among them: choose one with -p",
                     (unsigned)found, (unsigned)pid);
            found = pid;
        }
    }
    if (processes != NULL)
        closedir(processes);
    if (found == 0)
        fail("no process was started by 'pawl profile' or 'pawl run --stats'");
    return found;
}

bool live_try(uint32_t pid, live *l)
{
    *l = (live){.pid = pid, .maps = live_maps(pid)};
    if (l->maps == NULL) {
        errno = errno == ENOENT ? ESRCH : errno;
        return false;
    }
    l->address = find_tables(l->maps);
    if (l->address == 0) {
        free(l->maps);
        errno = ENODATA;
        return false;
    }
    l->copy = table_new();
    l->symbols = symbols_new(l->maps, strlen(l->maps), pid);
    if (live_read(l)) {
        l->start_ns = l->copy->start_ns;
        return true;
    }
    uint32_t version = l->copy->version;
    int error = version != 0 && version != STATS_VERSION ? EPROTO : errno;
    live_close(l);
    errno = error;
    return false;
}

live live_open(uint32_t pid)
{
    live l;
    pid = pid != 0 ? pid : find_only();
    for (int tries = 0; !live_try(pid, &l); tries++) {
        if (errno != EAGAIN || tries == 6000)
            fail("-p %u: %s", (unsigned)pid,
                 errno == ENODATA  ? "was not started by 'pawl profile' or 'pawl run --stats'"
                 : errno == EPROTO ? "was started by another version of pawl"
                                   : strerror(errno));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* the program is about to start */
    }
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

/* Tells whether other code is mapped than before. */
static uint64_t code_in(const char *maps)
{
    uint64_t hash = 0;
    for (const char *line = maps, *end; *line != '\0'; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *rights = memchr(line, ' ', (size_t)(end - line));
        if (rights != NULL && rights[3] == 'x')
            for (const char *c = line; c < end; c++)
                hash = hash * 31 + (unsigned char)*c;
    }
    return hash;
}

/* Libraries are loaded and unloaded while we look. */
static void look_at_maps(live *l)
{
    char *maps = live_maps(l->pid);
    if (maps == NULL || code_in(maps) == code_in(l->maps)) {
        free(maps);
        return;
    }
    symbols_free(l->symbols);
    free(l->maps);
    l->maps = maps;
    l->symbols = symbols_new(l->maps, strlen(l->maps), l->pid);
}

/* A process under `pawl run --stats` keeps no maps of its own. */
static void add_maps(live *l)
{
    stats_table *t = l->copy;
    size_t size = strlen(l->maps);
    if (stats_get_id(&t->generations_used) > 0 || size > STATS_MAPS)
        return;
    memcpy(t->maps, l->maps, size);
    t->generations[0].begin = 0;
    t->generations[0].end = (uint32_t)size;
    t->generations_used = 1;
}

bool live_read(live *l)
{
    look_at_maps(l);
    errno = EAGAIN; /* there are tables, and nothing in them yet */
    if (!table_copy(l->copy, copy, l) || l->copy->version != STATS_VERSION ||
        (l->start_ns != 0 && l->copy->start_ns != l->start_ns))
        return false;
    add_maps(l);
    return copy(l, l->copy, offsetof(stats_table, locks),
                (size_t)table_rows(l->copy) * sizeof l->copy->locks[0]);
}
