/* region.c - where the tables are, what they say of their process, and what happens when there is no room for them */
#include "tables.h"

#include "preload/stats/grow.h"
#include "src/park/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

stats_table *stats_tables;

const char *stats_lock_name(void)
{
    return "some_lock";
}

/* ---- the kernel, which may refuse. Meson has files of 64 bits everywhere, by these names */

static bool no_memfd, no_growth, no_page, no_tables, no_anonymous, no_program, no_remap, may_not_raise,
    simulates;
static int mapped_pages, remaps, signals_held_off, limits_set;
static struct rlimit simulated, while_growing;

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
void *__real_mmap64(void *at, size_t size, int access, int flags, int fd, off_t from);
void *__wrap_mmap64(void *at, size_t size, int access, int flags, int fd, off_t from);
int __real_remap_file_pages(void *at, size_t size, int access, size_t page, int flags);
int __wrap_remap_file_pages(void *at, size_t size, int access, size_t page, int flags);
ssize_t __real_readlink(const char *path, char *text, size_t size);
ssize_t __wrap_readlink(const char *path, char *text, size_t size);
int __real_getrlimit64(int what, struct rlimit *limit);
int __wrap_getrlimit64(int what, struct rlimit *limit);
int __real_setrlimit64(int what, const struct rlimit *limit);
int __wrap_setrlimit64(int what, const struct rlimit *limit);

int __wrap_memfd_create(const char *name, unsigned flags)
{
    check_text("name", name, STATS_MAPPING);
    check_number("flags", flags, MFD_CLOEXEC);
    return no_memfd ? -1 : __real_memfd_create(name, flags);
}

int __wrap_ftruncate64(int fd, off_t size)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK(sigismember(&mask, SIGXFSZ) && !sigismember(&mask, SIGTERM), "the signals that are held off");
    signals_held_off++;
    while_growing = simulated;
    errno = ENOSPC;
    return no_growth ? -1 : __real_ftruncate64(fd, size);
}

void *__wrap_mmap64(void *at, size_t size, int access, int flags, int fd, off_t from)
{
    bool refused = size == STATS_PAGE ? no_page : fd >= 0 ? no_tables : no_anonymous;
    mapped_pages += size == STATS_PAGE;
    CHECK((flags & MAP_ANONYMOUS) != 0 || fcntl(fd, F_GETFD) != -1, "it maps what is not open");
    return refused ? MAP_FAILED : __real_mmap64(at, size, access, flags, fd, from);
}

int __wrap_remap_file_pages(void *at, size_t size, int access, size_t page, int flags)
{
    remaps++;
    return no_remap ? -1 : __real_remap_file_pages(at, size, access, page, flags);
}

ssize_t __wrap_readlink(const char *path, char *text, size_t size)
{
    return no_program ? -1 : __real_readlink(path, text, size);
}

int __wrap_getrlimit64(int what, struct rlimit *limit)
{
    if (!simulates)
        return __real_getrlimit64(what, limit);
    *limit = simulated;
    return 0;
}

int __wrap_setrlimit64(int what, const struct rlimit *limit)
{
    struct rlimit now;
    limits_set++;
    getrlimit(what, &now);
    if (may_not_raise && limit->rlim_max > now.rlim_max) {
        errno = EPERM;
        return -1;
    }
    if (!simulates)
        return __real_setrlimit64(what, limit);
    simulated = *limit;
    return 0;
}

/* ---- books */

enum { OPENED = 150 };
static char path[64];
static int book;

/* As pawl makes it. It can be opened while OPENED is. */
static void make_book(uint32_t version, uint32_t depth, uint32_t sample, uint32_t used)
{
    stats_book page = {.version = version, .depth = depth, .sample = sample, .used = used};
    book = __real_memfd_create("book", MFD_CLOEXEC);
    CHECK(book >= 0 && dup2(book, OPENED) == OPENED, "memfd_create: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/self/fd/%d", OPENED);
    CHECK(__real_ftruncate64(book, STATS_PAGE + 4 * (off_t)STATS_TABLE_BYTES) == 0, "ftruncate: %s",
          strerror(errno));
    CHECK(pwrite(book, &page, sizeof page, 0) == sizeof page, "pwrite");
}

static uint32_t places_used(void)
{
    stats_book page;
    CHECK(pread(book, &page, sizeof page, 0) == sizeof page, "pread");
    return page.used;
}

/* As it is in the file. */
static stats_table *table_of_book(int place)
{
    off_t at = STATS_PAGE + place * (off_t)STATS_TABLE_BYTES;
    void *table = __real_mmap64(NULL, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, book, at);
    CHECK(table != MAP_FAILED, "mmap: %s", strerror(errno));
    return table;
}

/* The next one to be opened. */
static int descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static bool is_mapped_as(const char *name)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t from = (uintptr_t)strtoull(line, NULL, 16);
        found = found || (from == (uintptr_t)stats_tables && strstr(line, name) != NULL);
    }
    fclose(maps);
    return found;
}

static void check_tables(uint32_t depth, uint32_t sample)
{
    stats_table *t = stats_tables;
    CHECK(t != NULL, "no tables");
    check_number("version", t->version, STATS_VERSION);
    check_number("process", t->pid, (uint32_t)getpid());
    check_number("parent", t->parent, (uint32_t)getppid());
    check_number("depth", t->depth, depth);
    check_number("sample", t->sample, sample);
    check_number("chance", t->chance, UINT32_MAX / sample);
    check_text("lock", t->lock, "some_lock");
    uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC);
    CHECK(t->start_ns <= now && now - t->start_ns < UINT64_C(600000000000), "start");
    check_number("acquisitions", t->locks[1].acquisitions, 0);
    t->locks[1].acquisitions = 77; /* it can be written to */
}

static void a_process_has_tables_that_others_can_find(const lock_info *lock)
{
    (void)lock;
    char program[STATS_NAME] = "";
    int fd = descriptor();
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    check_number("maps", stats_tables->keeps_maps, 0);
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "readlink");
    check_text("program", stats_tables->program, program);
    CHECK(is_mapped_as("/memfd:" STATS_MAPPING), "it has no name");
    check_number("a descriptor stays open", (uint64_t)descriptor(), (uint64_t)fd);
    check_number("end", stats_tables->locks[STATS_LOCKS - 1].acquisitions, 0);
}

static void an_empty_name_is_none(const lock_info *lock)
{
    (void)lock;
    CHECK(stats_table_begin("", false), "not begun");
    check_tables(1, 1);
}

static void a_program_without_a_path_has_its_short_name(const lock_info *lock)
{
    (void)lock;
    no_program = true;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_text("program", stats_tables->program, program_invocation_short_name);
}

static void without_a_file_of_its_own_it_has_tables_all_the_same(const lock_info *lock)
{
    (void)lock;
    int fd = descriptor();
    no_memfd = true;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    CHECK(!is_mapped_as(STATS_MAPPING), "where from?");
    no_memfd = false;
    no_growth = true;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    CHECK(!is_mapped_as(STATS_MAPPING), "of no size");
    no_growth = false;
    no_tables = true;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    check_number("a descriptor stays open", (uint64_t)descriptor(), (uint64_t)fd);
    no_anonymous = true;
    stats_tables = NULL;
    CHECK(!stats_table_begin(NULL, false) && stats_tables == NULL, "without memory");
}

static void below_a_profile_the_tables_are_in_its_book(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, 1);
    int fd = descriptor();
    bool begun = stats_table_begin(path, false);
    close(OPENED);
    CHECK(begun, "not begun");
    check_tables(8, 100);
    check_number("maps", stats_tables->keeps_maps, 1);
    check_number("used", places_used(), 2);
    check_number("in the file", table_of_book(1)->locks[1].acquisitions, 77);
    check_number("before it", table_of_book(0)->version, 0);
    check_number("a descriptor stays open", (uint64_t)descriptor(), (uint64_t)fd);
}

static void begin_in_book(uint32_t depth, uint32_t sample, bool all)
{
    make_book(STATS_VERSION, depth, sample, 0);
    bool begun = stats_table_begin(path, all);
    close(OPENED);
    CHECK(begun, "not begun");
}

static void what_a_book_asks_for_is_kept_within_limits(const lock_info *lock)
{
    (void)lock;
    begin_in_book(0, 0, false);
    check_tables(1, 1);
}

static void stacks_are_so_deep_at_most(const lock_info *lock)
{
    (void)lock;
    begin_in_book(STATS_DEPTH + 1, 5, false);
    check_tables(STATS_DEPTH, 5);
}

static void whoever_wants_all_holds_timed_has_them(const lock_info *lock)
{
    (void)lock;
    begin_in_book(STATS_DEPTH, 5, true);
    check_tables(STATS_DEPTH, 1);
}

static void refused(const char *why)
{
    int fd = descriptor();
    bool begun = stats_table_begin(path, false);
    close(OPENED);
    CHECK(!begun && stats_tables == NULL, "%s: it has begun", why);
    check_number("a descriptor stays open", (uint64_t)descriptor(), (uint64_t)fd);
}

static void a_book_of_another_version_is_left_alone(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION + 1, 8, 100, 0);
    refused("version");
    check_number("used", places_used(), 0);
}

static void a_full_book_takes_nobody(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, STATS_PROCESSES);
    refused("full");
}

static void a_book_that_is_not_there_takes_nobody(const lock_info *lock)
{
    (void)lock;
    snprintf(path, sizeof path, "/nowhere/book");
    refused("missing");
}

static void a_book_that_cannot_be_mapped_takes_nobody(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, 0);
    no_page = true;
    refused("first page");
}

static void a_table_that_cannot_be_mapped_is_none(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, 0);
    no_tables = true;
    refused("table");
}

static void a_path_that_is_too_long_is_no_book(const lock_info *lock)
{
    (void)lock;
    char longest[65];
    memset(longest, 'x', sizeof longest);
    longest[64] = '\0';
    CHECK(stats_table_begin(longest, false), "not begun");
    check_tables(1, 1);
    longest[63] = '\0';
    stats_tables = NULL;
    CHECK(!stats_table_begin(longest, false), "which is not there"); /* just short enough */
}

/* ---- a child */

static void check_renewed(uint32_t depth, uint32_t sample)
{
    stats_table *before = stats_tables;
    pid_t child = fork();
    if (child == 0) {
        stats_table_renew();
        CHECK(stats_tables == before, "elsewhere");
        check_tables(depth, sample);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child: %d", status);
    check_number("the parent's", stats_tables->pid, (uint32_t)getpid());
    check_number("the parent's", stats_tables->locks[1].acquisitions, 77);
}

static void a_child_has_tables_of_its_own(const lock_info *lock)
{
    (void)lock;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    check_renewed(1, 1);
}

static void a_child_without_a_file_has_them_too(const lock_info *lock)
{
    (void)lock;
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_tables(1, 1);
    no_memfd = true;
    check_renewed(1, 1);
}

static void a_child_below_a_profile_has_the_next_place(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, 0);
    bool begun = stats_table_begin(path, false);
    CHECK(begun, "not begun");
    check_tables(8, 100);
    mapped_pages = 0;
    check_renewed(8, 100);
    close(OPENED);
    check_number("used", places_used(), 2);
    check_number("in the file", table_of_book(1)->locks[1].acquisitions, 77);
    CHECK(table_of_book(1)->pid != table_of_book(0)->pid, "the same");
    check_number("remapped", (uint64_t)remaps, 0);
}

static void a_child_that_cannot_open_the_book_moves_on(const lock_info *lock)
{
    (void)lock;
    begin_in_book(8, 100, false);
    check_tables(8, 100);
    check_renewed(8, 100);
    check_number("used", places_used(), 2);
    check_number("in the file", table_of_book(1)->locks[1].acquisitions, 77);
    CHECK(table_of_book(1)->pid != table_of_book(0)->pid, "the same");
}

static void a_child_that_cannot_move_on_leaves_its_parents_alone(const lock_info *lock)
{
    (void)lock;
    begin_in_book(8, 100, false);
    check_tables(8, 100);
    no_remap = true;
    check_renewed(8, 100);
    check_number("in the file", table_of_book(1)->version, 0);
}

static void a_child_that_finds_the_book_full_counts_by_itself(const lock_info *lock)
{
    (void)lock;
    begin_in_book(8, 100, false);
    check_tables(8, 100);
    uint32_t full = STATS_PROCESSES;
    CHECK(pwrite(book, &full, sizeof full, offsetof(stats_book, used)) == sizeof full, "pwrite");
    check_renewed(1, 1);
    check_number("used", places_used(), STATS_PROCESSES);
}

static void pages_of_a_book_are_mapped_once(const lock_info *lock)
{
    (void)lock;
    make_book(STATS_VERSION, 8, 100, 0);
    bool begun = stats_table_begin(path, false);
    for (int i = 0; i < 3; i++)
        stats_table_renew();
    close(OPENED);
    CHECK(begun, "not begun");
    check_number("mapped", (uint64_t)mapped_pages, 1);
    check_number("used", places_used(), 4);
}

/* ---- limits on the size of files, which are not meant */

static void limit(rlim_t now, rlim_t most)
{
    CHECK(__real_setrlimit64(RLIMIT_FSIZE, &(struct rlimit){now, most}) == 0, "setrlimit: %s",
          strerror(errno));
}

static void check_limit(rlim_t now, rlim_t most)
{
    struct rlimit found;
    getrlimit(RLIMIT_FSIZE, &found);
    check_number("limit", found.rlim_cur, now);
    check_number("most", found.rlim_max, most);
}

static bool is_in(int (*get)(sigset_t *set), int number)
{
    sigset_t set;
    get(&set);
    return sigismember(&set, number);
}

static int blocked(sigset_t *set)
{
    return pthread_sigmask(SIG_BLOCK, NULL, set);
}

static void a_soft_limit_is_raised_meanwhile(const lock_info *lock)
{
    (void)lock;
    struct rlimit most;
    getrlimit(RLIMIT_FSIZE, &most);
    may_not_raise = true;
    limit(1000, most.rlim_max);
    leave_ones();
    CHECK(stats_table_begin(NULL, false) && is_mapped_as(STATS_MAPPING), "no file");
    check_limit(1000, most.rlim_max);
    check_number("signals held off", (uint64_t)signals_held_off, 1);
    CHECK(!is_in(blocked, SIGXFSZ), "the signal stays blocked");
}

static void root_raises_a_hard_limit_too(const lock_info *lock)
{
    (void)lock;
    simulates = true;
    simulated = (struct rlimit){1000, 2000};
    CHECK(stats_table_begin(NULL, false), "not begun");
    CHECK(while_growing.rlim_cur == RLIM_INFINITY && while_growing.rlim_max == RLIM_INFINITY, "not raised");
    check_limit(1000, 2000);
}

static void a_hard_limit_of_enough_is_used(const lock_info *lock)
{
    (void)lock;
    may_not_raise = true;
    limit(1000, STATS_TABLE_BYTES);
    CHECK(stats_table_begin(NULL, false) && is_mapped_as(STATS_MAPPING), "no file");
    check_limit(1000, STATS_TABLE_BYTES);
}

static void a_hard_limit_ends_nobody(const lock_info *lock)
{
    (void)lock;
    may_not_raise = true;
    limit(1000, 1 << 20);
    CHECK(stats_table_begin(NULL, false) && !is_mapped_as(STATS_MAPPING), "a file");
    check_limit(1000, 1 << 20);
    CHECK(!is_in(sigpending, SIGXFSZ) && !is_in(blocked, SIGXFSZ), "the signal is pending, or stays blocked");
}

static void a_signal_that_was_pending_stays(const lock_info *lock)
{
    (void)lock;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGXFSZ);
    no_growth = true;
    CHECK(stats_table_begin(NULL, false), "not begun");
    CHECK(is_in(sigpending, SIGXFSZ) && is_in(blocked, SIGXFSZ), "it was taken");
}

static void no_limit_is_left_as_it_is(const lock_info *lock)
{
    (void)lock;
    simulates = true;
    simulated = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    CHECK(stats_table_begin(NULL, false), "not begun");
    check_number("limits", (uint64_t)limits_set, 0);
}

static void the_reason_is_told(const lock_info *lock)
{
    (void)lock;
    may_not_raise = true;
    limit(1000, 1000);
    CHECK(!stats_grow(__real_memfd_create("scratch", 0), 1001), "it grew");
    check_text("error", strerror(errno), "File too large");
    no_growth = true;
    CHECK(!stats_grow(__real_memfd_create("scratch", 0), 500), "it grew");
    check_text("error", strerror(errno), "No space left on device");
}

static const promise promises[] = {
    {"a_process_has_tables_that_others_can_find", a_process_has_tables_that_others_can_find, NULL, "region"},
    {"an_empty_name_is_none", an_empty_name_is_none, NULL, "region"},
    {"a_program_without_a_path_has_its_short_name", a_program_without_a_path_has_its_short_name, NULL,
     "region"},
    {"without_a_file_of_its_own_it_has_tables_all_the_same",
     without_a_file_of_its_own_it_has_tables_all_the_same, NULL, "region"},
    {"below_a_profile_the_tables_are_in_its_book", below_a_profile_the_tables_are_in_its_book, NULL,
     "region"},
    {"what_a_book_asks_for_is_kept_within_limits", what_a_book_asks_for_is_kept_within_limits, NULL,
     "region"},
    {"stacks_are_so_deep_at_most", stacks_are_so_deep_at_most, NULL, "region"},
    {"whoever_wants_all_holds_timed_has_them", whoever_wants_all_holds_timed_has_them, NULL, "region"},
    {"a_book_of_another_version_is_left_alone", a_book_of_another_version_is_left_alone, NULL, "region"},
    {"a_full_book_takes_nobody", a_full_book_takes_nobody, NULL, "region"},
    {"a_book_that_is_not_there_takes_nobody", a_book_that_is_not_there_takes_nobody, NULL, "region"},
    {"a_book_that_cannot_be_mapped_takes_nobody", a_book_that_cannot_be_mapped_takes_nobody, NULL, "region"},
    {"a_table_that_cannot_be_mapped_is_none", a_table_that_cannot_be_mapped_is_none, NULL, "region"},
    {"a_path_that_is_too_long_is_no_book", a_path_that_is_too_long_is_no_book, NULL, "region"},
    {"a_child_has_tables_of_its_own", a_child_has_tables_of_its_own, NULL, "region"},
    {"a_child_without_a_file_has_them_too", a_child_without_a_file_has_them_too, NULL, "region"},
    {"a_child_below_a_profile_has_the_next_place", a_child_below_a_profile_has_the_next_place, NULL,
     "region"},
    {"a_child_that_cannot_open_the_book_moves_on", a_child_that_cannot_open_the_book_moves_on, NULL,
     "region"},
    {"a_child_that_cannot_move_on_leaves_its_parents_alone",
     a_child_that_cannot_move_on_leaves_its_parents_alone, NULL, "region"},
    {"a_child_that_finds_the_book_full_counts_by_itself", a_child_that_finds_the_book_full_counts_by_itself,
     NULL, "region"},
    {"pages_of_a_book_are_mapped_once", pages_of_a_book_are_mapped_once, NULL, "region"},
    {"a_soft_limit_is_raised_meanwhile", a_soft_limit_is_raised_meanwhile, NULL, "region"},
    {"a_hard_limit_of_enough_is_used", a_hard_limit_of_enough_is_used, NULL, "region"},
    {"a_hard_limit_ends_nobody", a_hard_limit_ends_nobody, NULL, "region"},
    {"a_signal_that_was_pending_stays", a_signal_that_was_pending_stays, NULL, "region"},
    {"root_raises_a_hard_limit_too", root_raises_a_hard_limit_too, NULL, "region"},
    {"the_reason_is_told", the_reason_is_told, NULL, "region"},
    {"no_limit_is_left_as_it_is", no_limit_is_left_as_it_is, NULL, "region"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
