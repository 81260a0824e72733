/* region.c - where the tables live: a mapping that others can read, also after the process was killed
 *
 * Under `pawl profile` it is a part of a file that pawl holds open, named by PAWL_PROFILE. Otherwise the process has an
 * anonymous file of its own. Both have a name in /proc/PID/maps, by which `pawl top` finds them.
 */
#include "grow.h"
#include "name.h"
#include "stats.h"

#include "src/park/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the tables are to hold, and where in the file they are. */
typedef struct plan {
    int fd;
    off_t at;
    uint32_t depth, sample;
    bool keeps_maps;
} plan;

static stats_book *book; /* the file's first page, or NULL */

/* A part of the file for a process. */
static bool claim(plan *p)
{
    if (book == NULL || book->version != STATS_VERSION)
        return false;
    uint32_t place = atomic_fetch_add_explicit(&book->used, 1, memory_order_relaxed);
    p->depth = book->depth;
    p->sample = book->sample;
    p->keeps_maps = true;
    p->at = STATS_PAGE + (off_t)place * (off_t)STATS_TABLE_BYTES;
    return place < STATS_PROCESSES;
}

/* pawl itself holds the file, so that it needs no name in a folder and goes when pawl goes. */
static bool open_book(const char *path, plan *p)
{
    p->fd = open(path, O_RDWR | O_CLOEXEC);
    if (p->fd < 0)
        return false;
    if (book == NULL) {
        void *page = mmap(NULL, STATS_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
        book = page != MAP_FAILED ? page : NULL;
    }
    if (claim(p))
        return true;
    close(p->fd);
    return false;
}

/* Of a child that has changed its user or its root, and can't open the file: from the parent's tables to its own. */
static bool move_on(plan *p)
{
    return book != NULL && atomic_load_explicit(&book->used, memory_order_relaxed) < STATS_PROCESSES &&
           claim(p) &&
           remap_file_pages(stats_tables, STATS_TABLE_BYTES, 0, (size_t)p->at / (size_t)sysconf(_SC_PAGESIZE),
                            MAP_NONBLOCK) == 0;
}

static bool open_own(plan *p)
{
    *p = (plan){.fd = memfd_create(STATS_MAPPING, MFD_CLOEXEC), .depth = 1, .sample = 1};
    if (p->fd < 0)
        return false;
    if (stats_grow(p->fd, (off_t)STATS_TABLE_BYTES))
        return true;
    close(p->fd);
    return false;
}

static bool times_all; /* whatever the book says */

static void describe(stats_table *t, const plan *p)
{
    t->pid = (uint32_t)getpid();
    t->parent = (uint32_t)getppid();
    t->start_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    t->depth = p->depth < 1 ? 1 : p->depth > STATS_DEPTH ? STATS_DEPTH : p->depth;
    t->sample = p->sample < 1 || times_all ? 1 : p->sample;
    t->chance = UINT32_MAX / t->sample;
    t->keeps_maps = p->keeps_maps;
    ssize_t n = readlink("/proc/self/exe", t->program, sizeof t->program - 1);
    if (n < 0)
        strncpy(t->program, program_invocation_short_name, sizeof t->program - 1);
    strncpy(t->lock, stats_lock_name(), sizeof t->lock - 1);
    atomic_store_explicit(&t->version, STATS_VERSION, memory_order_release);
}

static char book_path[64]; /* "": none */

static void *map_at(void *place, int flags, plan *p)
{
    bool open = book_path[0] != '\0' ? open_book(book_path, p) : open_own(p);
    if (!open)
        return MAP_FAILED;
    void *memory = mmap(place, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | flags,
                        p->fd, p->at);
    close(p->fd);
    return memory;
}

bool stats_table_begin(const char *book, bool all)
{
    plan p = {.depth = 1, .sample = 1};
    times_all = all;
    if (book != NULL && strlen(book) < sizeof book_path)
        strcpy(book_path, book);
    void *memory = map_at(NULL, 0, &p);
    if (memory == MAP_FAILED && book_path[0] == '\0') /* `pawl top` will not find it */
        memory = mmap(NULL, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    stats_tables = memory;
    describe(stats_tables, &p);
    return true;
}

void stats_table_renew(void)
{
    plan p = {.depth = 1, .sample = 1};
    if (map_at(stats_tables, MAP_FIXED, &p) == MAP_FAILED &&
        !move_on(&p)) /* not the parent's, whatever happens */
        mmap(stats_tables, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    describe(stats_tables, &p);
}
