/* book.c - the file that holds the tables of a command's processes; it goes when this process goes */
#include "book.h"
#include "copy.h"

#include "cli/cli.h"
#include "preload/stats/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int profile_book_make(uint32_t depth, uint32_t sample, char *path, size_t size)
{
    int made = memfd_create(STATS_MAPPING, MFD_CLOEXEC);
    int fd = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, 3) : -1; /* a standard stream that is closed stays so */
    off_t bytes = STATS_PAGE + (off_t)STATS_PROCESSES * (off_t)STATS_TABLE_BYTES;
    stats_book head = {.version = STATS_VERSION, .depth = depth, .sample = sample};
    if (fd < 0 || !stats_grow(fd, bytes) || pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
        fail("no room for the tables: %s", strerror(errno));
    close(made);
    snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

static bool copy(void *table, stats_table *to, size_t from, size_t size)
{
    memcpy((char *)to + from, (const char *)table + from, size);
    return true;
}

uint32_t profile_book_read(int fd, void (*each)(const stats_table *t, const stats_row *rows, void *input),
                           void *input)
{
    stats_book book;
    if (pread(fd, &book, sizeof book, 0) != (ssize_t)sizeof book)
        fail("the tables: %s", strerror(errno));
    for (uint32_t i = 0; i < book.used && i < STATS_PROCESSES; i++) {
        off_t at = STATS_PAGE + (off_t)i * (off_t)STATS_TABLE_BYTES;
        uint32_t version = 0; /* of one that nobody used: mapping and reading it would make pages for it */
        if (pread(fd, &version, sizeof version, at + (off_t)offsetof(stats_table, version)) !=
                (ssize_t)sizeof version ||
            version != STATS_VERSION)
            continue;
        stats_table *shared = mmap(NULL, STATS_TABLE_BYTES, PROT_READ, MAP_SHARED, fd, at), *t = table_new();
        if (shared == MAP_FAILED)
            fail("the tables: %s", strerror(errno));
        table_copy(t, copy, shared);
        each(t, shared->locks, input);
        munmap(shared, STATS_TABLE_BYTES);
        table_free(t);
    }
    return book.used;
}

/* ---- as a document */

typedef struct reading {
    json_t *document;
    uint64_t origin_ns, end_ns;
    size_t count;
    struct {
        uint32_t pid;
        uint64_t start_ns;
    } tables[STATS_PROCESSES];
} reading;

static void list_table(const stats_table *t, const stats_row *rows, void *input)
{
    (void)rows;
    reading *r = input;
    r->tables[r->count].pid = t->pid;
    r->tables[r->count++].start_ns = t->start_ns;
}

/* When it exited, or became another program; of one that was killed, all that is known is that it is over now. */
static uint64_t end_of(const reading *r, const stats_table *t)
{
    uint64_t end = t->ended_ns != 0 ? t->ended_ns : r->end_ns;
    for (size_t i = 0; i < r->count; i++)
        if (r->tables[i].pid == t->pid && r->tables[i].start_ns > t->start_ns && r->tables[i].start_ns < end)
            end = r->tables[i].start_ns;
    return end;
}

static void add_table(const stats_table *t, const stats_row *rows, void *input)
{
    reading *r = input;
    document_add_table(r->document, t, rows, r->origin_ns, end_of(r, t));
}

static void note_lost(json_t *notes, size_t count, const char *why)
{
    char text[128];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%zu more process%s or program%s %s: nothing is known of %s", count,
             count == 1 ? "" : "es", count == 1 ? "" : "s", why, count == 1 ? "it" : "them");
    if (json_array_append_new(notes, json_string(text)) != 0)
        fail("out of memory");
}

/* A process that was killed as it began has claimed a place, and has not used it. */
static void note_all_lost(json_t *document, uint32_t claimed, size_t found)
{
    size_t places = claimed < STATS_PROCESSES ? claimed : STATS_PROCESSES;
    json_t *notes = json_array();
    note_lost(notes, claimed - places, "had no room for tables");
    note_lost(notes, places - found, "left no tables");
    if (json_object_set_new(document, "notes", notes) != 0)
        fail("out of memory");
}

size_t profile_book_add(int fd, json_t *document, uint64_t origin_ns, uint64_t end_ns)
{
    static reading r;
    r = (reading){.document = document, .origin_ns = origin_ns, .end_ns = end_ns};
    uint32_t wanted = profile_book_read(fd, list_table, &r);
    if (wanted > r.count)
        note_all_lost(document, wanted, r.count);
    profile_book_read(fd, add_table, &r);
    return r.count;
}
