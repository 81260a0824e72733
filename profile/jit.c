/* jit.c - the names that a JIT compiler wrote for perf */
#include "jit.h"

#include "cli/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct entry {
    uint64_t start, size;
    char *name;
} entry;

struct jit {
    entry *entries;
    size_t count;
};

/* "START SIZE name of it", in hexadecimal. A later line replaces an earlier one. */
static void take(jit *j, const char *line)
{
    uintmax_t start, size;
    int at = 0;
    if (sscanf(line, "%jx %jx %n", &start, &size, &at) != 2 || at == 0 || line[at] == '\0')
        return;
    entry *more = realloc(j->entries, (j->count + 1) * sizeof *more);
    char *name = strndup(line + at, strcspn(line + at, "\n"));
    if (more == NULL || name == NULL)
        fail("out of memory");
    j->entries = more;
    j->entries[j->count++] = (entry){start, size, name};
}

/* Anybody may put something there: nobody waits for the other end of a pipe. */
static FILE *open_plain(const char *path)
{
    struct stat there;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    FILE *file = fstat(fd, &there) == 0 && S_ISREG(there.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL)
        close(fd);
    return file;
}

jit *jit_new(uint32_t pid)
{
    jit *j = allocate(1, sizeof *j);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%u.map", (unsigned)pid);
    FILE *file = open_plain(path);
    if (file == NULL)
        return j;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0)
        take(j, line);
    free(line);
    fclose(file);
    return j;
}

void jit_free(jit *j)
{
    for (size_t i = 0; i < j->count; i++)
        free(j->entries[i].name);
    free(j->entries);
    free(j);
}

const char *jit_name(const jit *j, uint64_t address)
{
    for (size_t i = j->count; i-- > 0;)
        if (address - j->entries[i].start < j->entries[i].size)
            return j->entries[i].name;
    return NULL;
}
