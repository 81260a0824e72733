/* maps.c - what is mapped where, for whoever names the frames of stacks later
 *
 * /proc/self/maps is copied when a stack has a frame in code that no copy knows: of the first stack, and after a library
 * was loaded. Only the lines of files are kept. The system calls are plain: open() and read() would be cancellation points.
 */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST = 1 << 13 }; /* line */

static bool is_known(const stats_generation *g, uint64_t pc)
{
    for (uint32_t i = 0; i < g->ranges; i++)
        if (pc >= g->range[i].from && pc < g->range[i].to)
            return true;
    return false;
}

static bool are_known(const stats_generation *g, const uint64_t *frames, int depth)
{
    for (int i = 0; i < depth; i++)
        if (!is_known(g, frames[i]))
            return false;
    return true;
}

static uintptr_t hexadecimal(const char **text)
{
    uintptr_t value = 0;
    for (;; (*text)++) {
        char c = **text;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            return value;
        value = value * 16 + digit;
    }
}

/* "7f00-8000 r-xp 00000000 08:01 123   /path\n". Code is remembered, files are kept. */
static void take_line(stats_generation *g, const char *line, size_t length)
{
    const char *text = line;
    uintptr_t from = hexadecimal(&text);
    text += *text == '-';
    uintptr_t to = hexadecimal(&text);
    if (text + 4 < line + length && text[3] == 'x' && g->ranges < STATS_RANGES) {
        g->range[g->ranges].from = from;
        g->range[g->ranges++].to = to;
    }
    bool file = memchr(line, '/', length) != NULL || memmem(line, length, "[vdso]", 6) != NULL;
    if (!file || g->end + length > STATS_MAPS - LONGEST)
        return;
    memmove(stats_tables->maps + g->end, line, length);
    g->end += (uint32_t)length;
}

/* Read to where it is kept, and moved together: the thread's stack may be small, and a path is up to 4 KB long. */
static void take_lines(stats_generation *g, int fd)
{
    char *maps = stats_tables->maps;
    size_t rest = 0; /* of the last read: the beginning of a line */
    long n;
    while ((n = syscall(SYS_read, fd, maps + g->end + rest, STATS_MAPS - g->end - rest)) > 0) {
        char *line = maps + g->end, *filled = line + rest + (size_t)n, *end;
        while ((end = memchr(line, '\n', (size_t)(filled - line))) != NULL) {
            take_line(g, line, (size_t)(end + 1 - line));
            line = end + 1;
        }
        rest = (size_t)(filled - line);
        memmove(maps + g->end, line, rest);
    }
}

static void copy_maps(uint32_t number)
{
    stats_table *t = stats_tables;
    stats_generation *g = &t->generations[number];
    g->begin = g->end = number > 0 ? t->generations[number - 1].end : 0;
    int before = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        take_lines(g, fd);
        syscall(SYS_close, fd);
        atomic_store_explicit(&t->generations_used, number + 1, memory_order_release);
    }
    errno = before;
}

unsigned stats_maps_of(const uint64_t *frames, int depth)
{
    stats_table *t = stats_tables;
    if (!t->keeps_maps) /* the report at exit asks the dynamic linker, and `pawl top` reads them itself */
        return 0;
    uint32_t used = atomic_load_explicit(&t->generations_used, memory_order_acquire);
    if ((used > 0 && are_known(&t->generations[used - 1], frames, depth)) || used == STATS_GENERATIONS ||
        !stats_enter(&t->maps_lock))
        return used > 0 ? used - 1 : 0;
    if (used == atomic_load_explicit(&t->generations_used, memory_order_relaxed))
        copy_maps(used);
    used = atomic_load_explicit(&t->generations_used, memory_order_relaxed);
    atomic_store_explicit(&t->maps_lock, 0, memory_order_release);
    return used > 0 ? used - 1 : 0;
}
