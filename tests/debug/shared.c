/* shared.c - how debug mode finds a lock in shared memory, and who took it
 *
 * Little of that is exported, so its source is part of this program.
 */
#include "files.h"
#include "harness.h"

#include <unistd.h>

/* Stands for /proc/self/maps if it is not null. Few bytes at a time, which may end anywhere in a line. */
static const char *mappings;

static ssize_t read_a_piece(int file, void *to, size_t size)
{
    enum { PIECE = 1000 };
    if (mappings == NULL)
        return read(file, to, size < PIECE ? size : PIECE);
    size_t length = strnlen(mappings, size < 7 ? size : 7);
    memcpy(to, mappings, length);
    mappings += length;
    return (ssize_t)length;
}

#define read read_a_piece
#include "../../src/debug_shared.c"
#undef read

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MAPPINGS = 120 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map(size_t pages, int flags, int file, size_t page)
{
    void *at =
        mmap(NULL, pages * page_size(), PROT_READ | PROT_WRITE, flags, file, (off_t)(page * page_size()));
    CHECK(at != MAP_FAILED, "mmap");
    return at;
}

static char *one_page(int flags)
{
    char *page = map(1, flags | MAP_ANONYMOUS, -1, 0);
    *page = 1; /* a page that was never written to is nobody's */
    return page;
}

static bool is_shared(const char *page)
{
    return is_in_shared_page((uintptr_t)page);
}

static void a_page_is_shared_or_private(const lock_info *unused)
{
    (void)unused;
    const char *mine = one_page(MAP_PRIVATE), *ours = one_page(MAP_SHARED);
    for (int i = 0; i < 3; i++) {
        CHECK(!is_shared(mine), "look %d: private memory is shared", i);
        CHECK(is_shared(ours) && is_shared(ours + 100), "look %d: shared memory is private", i);
    }
}

static void a_line_covers_its_addresses(const lock_info *unused)
{
    (void)unused;
    static const char line[] = "7000-9000 rw-s 00001000 00:01 2077 /dev/zero (deleted)\n";
    CHECK(where_in_line(line, 0x6fff) == 0 && where_in_line(line, 0x9000) == 0, "beyond its ends");
    CHECK(where_in_line(line, 0x7000) != 0 && where_in_line(line, 0x8fff) != 0, "within its ends");
    CHECK(where_in_line("7000-9000 rw-p 00001000 00:01 2077 /file\n", 0x7000) == 0, "a private mapping");
    CHECK(where_in_line("[heap]\n", 0x7000) == 0, "no mapping");
    CHECK(where_in_line("1000-9000 rw-s 00000000 00:01 2077\n", 0x6010) != where_in_line(line, 0x7010),
          "another page of the file");
    CHECK(where_in_line("1000-9000 rw-s 00000000 00:01 2077\n", 0x2010) == where_in_line(line, 0x7010),
          "the same page of the file");
    CHECK(where_in_line("7000-9000 rw-s 00001000 00:01 2078\n", 0x7010) != where_in_line(line, 0x7010),
          "another file");
}

static uint64_t where_in(const char *text)
{
    mappings = text;
    uint64_t found = where(0x7010);
    mappings = NULL;
    return found;
}

static void each_list_of_mappings_is_read_anew(const lock_info *unused)
{
    (void)unused;
    static const char one[] = "1000-2000 rw-p 00000000 00:00 0\n7000-9000 rw-s 00001000 00:01 2077\n";
    CHECK(where_in(one) == where_in_line(strchr(one, '\n') + 1, 0x7010), "not found in a list");
    CHECK(where_in("1000-2000 rw-p 00000000 00:00 0\n") == 0, "found in the list of before");
    CHECK(where_in("") == 0, "found in an empty list");
}

/* So many that the list of mappings is read in pieces. */
static void a_place_is_found_among_many_mappings(const lock_info *unused)
{
    (void)unused;
    int file = memfd_create("many", 0);
    CHECK(file >= 0 && ftruncate(file, (off_t)(MAPPINGS * page_size())) == 0, "no file");
    char *all = map(MAPPINGS, MAP_SHARED, file, 0), *page[MAPPINGS];
    for (size_t i = 0; i < MAPPINGS; i++)
        page[i] = map(1, MAP_SHARED, file, i * 7 % MAPPINGS);
    for (size_t i = 0; i < MAPPINGS; i++) {
        uint64_t place = where((uintptr_t)page[i] + 64);
        CHECK(place != 0 && place == where((uintptr_t)all + i * 7 % MAPPINGS * page_size() + 64),
              "page %zu has another place elsewhere", i);
        CHECK(place != where((uintptr_t)page[i] + 72), "two places are one");
    }
    CHECK(where((uintptr_t)&file) == 0, "the stack is shared");
}

static void looking_leaves_no_file_open(const lock_info *unused)
{
    (void)unused;
    const char *mine = one_page(MAP_PRIVATE), *ours = one_page(MAP_SHARED);
    int file = next_file();
    is_shared(mine);
    CHECK(next_file() == file, "a file is left open: a private page");
    where((uintptr_t)ours);
    CHECK(next_file() == file, "a file is left open: a shared page");
}

static void where_files_cannot_be_opened_nothing_is_shared(const lock_info *unused)
{
    (void)unused;
    const char *ours = one_page(MAP_SHARED);
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    CHECK(!is_shared(ours) && where((uintptr_t)ours) == 0, "no file, and an answer");
}

/* A private page is looked up once: locks are taken very often. */
static void a_private_page_is_remembered(const lock_info *unused)
{
    (void)unused;
    char *page = one_page(MAP_PRIVATE);
    CHECK(!is_shared(page), "private memory is shared");
    CHECK(mmap(page, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
              page,
          "mmap");
    *page = 1;
    CHECK(!is_shared(page), "looked up again");
}

/* Locks it, by a write, and tells whether the parent took it before. */
static int taken_by_child(char *lock)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        *lock = 1;
        _exit(pawl_debug_other_process(lock) == (int)getppid() ? 1 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child ended with %#x", status);
    return WEXITSTATUS(status);
}

static void who_took_it_is_told_once(const lock_info *unused)
{
    (void)unused;
    char *lock = one_page(MAP_SHARED) + 64;
    CHECK(pawl_debug_other_process(lock) == 0, "before anything is prepared");
    pawl_debug_shared_prepare();
    CHECK(taken_by_child(lock) == 0, "nobody took it before");
    CHECK(taken_by_child(lock) == 0, "the other one has ended");
    CHECK(pawl_debug_other_process(lock) == 0, "the other one has ended");
    CHECK(pawl_debug_other_process(lock) == 0, "the same process again");
    CHECK(taken_by_child(lock) == 1, "the parent has it");
    CHECK(taken_by_child(lock) == 0, "that was told before");
    CHECK(taken_by_child(lock + 8) == 0, "a neighbour");
}

#define SHARED(check_)                                                                                       \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "shared"                                                \
    }

static const promise promises[] = {
    SHARED(a_page_is_shared_or_private),        SHARED(a_line_covers_its_addresses),
    SHARED(each_list_of_mappings_is_read_anew), SHARED(a_place_is_found_among_many_mappings),
    SHARED(looking_leaves_no_file_open),        SHARED(where_files_cannot_be_opened_nothing_is_shared),
    SHARED(a_private_page_is_remembered),       SHARED(who_took_it_is_told_once),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
