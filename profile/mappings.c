/* mappings.c - the files in /proc/PID/maps */
#include "mappings.h"

#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "7f00-8000 r-xp 00000000 08:01 123   /path" */
static void take_line(mappings *to, const char *line)
{
    mapping m;
    char path[PATH_MAX];
    if (sscanf(line, "%jx-%jx %*s %jx %*s %*s %4095[^\n]", &m.from, &m.to, &m.offset, path) != 4)
        return;
    m.path = strdup(path);
    mapping *more = realloc(to->items, (to->count + 1) * sizeof *more);
    if (m.path == NULL || more == NULL)
        fail("out of memory");
    to->items = more;
    to->items[to->count++] = m;
}

static int by_address(const void *a, const void *b)
{
    const mapping *left = a, *right = b;
    return (left->from > right->from) - (left->from < right->from);
}

mappings mappings_read(const char *maps, size_t size)
{
    mappings m = {0};
    char text[PATH_MAX + 128];
    for (const char *line = maps, *end = maps + size, *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline != NULL ? newline + 1 : end;
        snprintf(text, sizeof text, "%.*s", (int)(next - line), line);
        take_line(&m, text);
    }
    if (m.count > 0)
        qsort(m.items, m.count, sizeof *m.items, by_address);
    return m;
}

void mappings_free(mappings *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->items[i].path);
    free(m->items);
}

const mapping *mappings_find(const mappings *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->items[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &m->items[low - 1] : NULL;
}
