/* maps.c - which copies of /proc/self/maps are made, and what is kept of them */
#include "tables.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

stats_table *stats_tables;

/* ---- the kernel: a file of ours, in pieces */

static const char *mapped = "";
static size_t at, piece = SIZE_MAX;
static int opened, closed, open_error;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long a[3];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 3; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (stats_tables == NULL) /* the library's own, at the start */
        return __real_syscall(number, a[0], a[1], a[2]);
    if (number == SYS_openat) {
        CHECK((int)a[0] == AT_FDCWD && (int)a[2] == (O_RDONLY | O_CLOEXEC), "openat");
        check_text("file", (char *)a[1], "/proc/self/maps");
        opened++;
        at = 0;
        errno = open_error;
        return open_error != 0 ? -1 : 5;
    }
    CHECK((int)a[0] == 5 && opened == closed + 1, "descriptor %d", (int)a[0]);
    errno = EBADF; /* whatever it may be */
    if (number == SYS_close)
        return closed++, 0;
    CHECK(number == SYS_read, "system call %ld", number);
    size_t n = strlen(mapped) - at;
    n = n > piece ? piece : n;
    n = n > (size_t)a[2] ? (size_t)a[2] : n;
    memcpy((char *)a[1], mapped + at, n);
    at += n;
    return (long)n;
}

static bool refuses, somebody_was_first;

bool stats_enter(_Atomic uint32_t *lock)
{
    CHECK(lock == &stats_tables->maps_lock && *lock == 0, "the wrong lock");
    *lock = 1;
    if (somebody_was_first)
        stats_tables->generations_used++;
    return !refuses;
}

/* ---- */

#define CODE  "400000-401000 r-xp 00000000 08:01 1234    /opt/app/program\n"
#define DATA  "401000-402000 rw-p 00000000 08:01 1234    /opt/app/program\n"
#define HEAP  "9af00000-9aff0000 rw-p 00000000 00:00 0    [heap]\n"
#define JIT   "7f0000000000-7f0000002000 rwxp 00000000 00:00 0\n"
#define VDSO  "7ffff0000000-7ffff0001000 r-xp 00000000 00:00 0    [vdso]\n"
#define LATER "abcdef000-abcdef100 r-xp 00000000 08:01 99    /opt/app/plugin.so\n"

static stats_table *tables(void)
{
    stats_tables = new_tables();
    stats_tables->keeps_maps = 1;
    return stats_tables;
}

/* Which generation has these, and how many copies there were until then. */
static void maps_of(uint64_t first, uint64_t second, unsigned generation, int copies)
{
    uint64_t frames[] = {first, second};
    errno = ETIME;
    check_number("generation", stats_maps_of(frames, 2), generation);
    check_number("copies", (uint64_t)opened, (uint64_t)copies);
    check_number("closed", (uint64_t)closed, (uint64_t)(open_error != 0 ? 0 : copies));
    check_number("errno", (uint64_t)errno, ETIME);
    check_number("lock", stats_tables->maps_lock, refuses);
}

static void check_generation(unsigned number, uint32_t ranges, const char *text)
{
    static char kept[STATS_MAPS];
    stats_generation *g = &stats_tables->generations[number];
    check_number("ranges", g->ranges, ranges);
    memcpy(kept, stats_tables->maps + g->begin, g->end - g->begin);
    kept[g->end - g->begin] = '\0';
    check_text("kept", kept, text);
}

static void code_and_files_are_kept(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    mapped = CODE DATA HEAP JIT VDSO;
    maps_of(0x400000, 0x400fff, 0, 1);
    check_number("generations", t->generations_used, 1);
    check_generation(0, 3, CODE DATA VDSO);
    check_number("from", t->generations[0].range[1].from, 0x7f0000000000);
    check_number("to", t->generations[0].range[1].to, 0x7f0000002000);
    maps_of(0x400000, 0x7f0000001fff, 0, 1); /* known: not copied again */
}

static void a_frame_in_unknown_code_takes_another_copy(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    mapped = CODE;
    maps_of(0x400000, 0x400000, 0, 1);
    mapped = CODE LATER;
    maps_of(0x400000, 0xabcdef0ff, 1, 2);
    check_generation(0, 1, CODE);
    check_generation(1, 2, CODE LATER);
    check_number("one after the other", t->generations[1].begin, t->generations[0].end);
    maps_of(0x400000, 0xabcdef000, 1, 2);
    maps_of(0x401000, 0x400000, 2, 3); /* behind the end */
    maps_of(0x400000, 0x3fffff, 3, 4); /* before the beginning */
}

static void it_may_be_read_in_any_pieces(const lock_info *lock)
{
    (void)lock;
    mapped = CODE HEAP DATA JIT VDSO LATER;
    for (piece = 1; piece < strlen(mapped); piece += 7) {
        tables();
        opened = closed = 0;
        maps_of(0x400000, 0xabcdef0ff, 0, 1);
        check_generation(0, 4, CODE DATA VDSO LATER);
    }
}

static void without_a_reader_nothing_is_copied(const lock_info *lock)
{
    (void)lock;
    tables()->keeps_maps = 0;
    mapped = CODE;
    maps_of(0x400000, 0x400000, 0, 0);
}

static void while_another_thread_copies_the_last_copy_must_do(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    mapped = CODE;
    refuses = true;
    maps_of(0x400000, 0x400000, 0, 0);
    t->maps_lock = 0;
    t->generations_used = 3;
    maps_of(0x400000, 0x400000, 2, 0);
    refuses = false;
    somebody_was_first = true;
    t->maps_lock = 0;
    maps_of(0x400000, 0x400000, 3, 0);
}

static void a_file_that_cannot_be_opened_is_tried_again(const lock_info *lock)
{
    (void)lock;
    tables();
    mapped = CODE;
    open_error = EMFILE;
    maps_of(0x400000, 0x400000, 0, 1);
    check_number("generations", stats_tables->generations_used, 0);
    open_error = 0;
    opened = 0;
    maps_of(0x400000, 0x400000, 0, 1);
    check_number("generations", stats_tables->generations_used, 1);
}

static void there_are_so_many_generations(const lock_info *lock)
{
    (void)lock;
    tables();
    mapped = CODE;
    for (unsigned i = 0; i < STATS_GENERATIONS; i++)
        maps_of(i == 0 ? 0x400000 : 1, 0x400000, i, (int)i + 1);
    maps_of(1, 0x400000, STATS_GENERATIONS - 1, STATS_GENERATIONS);
    maps_of(0x400000, 0x400000, STATS_GENERATIONS - 1, STATS_GENERATIONS);
}

static void what_there_is_no_room_for_is_left_out(const lock_info *lock)
{
    (void)lock;
    enum { LINES = 20000 };
    static char text[LINES * 80], *end = text;
    for (int i = 0; i < LINES; i++)
        end += sprintf(end, "%x000-%x800 r-xp 00000000 08:01 1234    /opt/app/a-program-with-a-name\n",
                       0x1000 + i, 0x1000 + i);
    stats_table *t = tables();
    mapped = text;
    maps_of(0x1000000, 0x10ff7ff, 0, 1);
    stats_generation *g = &t->generations[0];
    check_number("ranges", g->ranges, STATS_RANGES);
    check_number("last", g->range[STATS_RANGES - 1].to, 0x10ff800);
    check_number("behind them", t->generations[1].begin, 0);
    size_t line = strlen(text) / LINES;
    CHECK(g->end > STATS_MAPS - (1 << 13) - line && g->end <= STATS_MAPS - (1 << 13), "%u bytes", g->end);
    CHECK(memcmp(t->maps, text, g->end) == 0, "other text");
}

static const promise promises[] = {
    {"code_and_files_are_kept", code_and_files_are_kept, NULL, "maps"},
    {"a_frame_in_unknown_code_takes_another_copy", a_frame_in_unknown_code_takes_another_copy, NULL, "maps"},
    {"it_may_be_read_in_any_pieces", it_may_be_read_in_any_pieces, NULL, "maps"},
    {"without_a_reader_nothing_is_copied", without_a_reader_nothing_is_copied, NULL, "maps"},
    {"while_another_thread_copies_the_last_copy_must_do", while_another_thread_copies_the_last_copy_must_do,
     NULL, "maps"},
    {"a_file_that_cannot_be_opened_is_tried_again", a_file_that_cannot_be_opened_is_tried_again, NULL,
     "maps"},
    {"there_are_so_many_generations", there_are_so_many_generations, NULL, "maps"},
    {"what_there_is_no_room_for_is_left_out", what_there_is_no_room_for_is_left_out, NULL, "maps"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
