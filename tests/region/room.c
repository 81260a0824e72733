/* room.c - creation and attachment that fail, and what they leave behind */
#include "files.h"
#include "sanitized.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Mappings of files like ours. */
static int mappings(void)
{
    char line[4352];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL, "no maps");
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, "memfd:pawl-region") != NULL;
    fclose(maps);
    return count;
}

/* These stand before the C library's. */
static int fallocate_fails;
static bool comes_first; /* another creator, once */

int posix_fallocate(int file, off_t at, off_t length)
{
    if (fallocate_fails != 0)
        return fallocate_fails;
    return fallocate(file, 0, at, length) == 0 ? 0 : errno;
}

int fstat(int file, struct stat *status)
{
    int result = fstatat(file, "", status, AT_EMPTY_PATH);
    if (comes_first) {
        pawl_region *r;
        comes_first = false;
        CHECK(pawl_region_create(&r, file, SIZE) == 0 && pawl_region_detach(r) == 0, "the first creator");
    }
    return result;
}

/* Returns what it was. */
static rlim_t limit(int what, rlim_t most)
{
    struct rlimit before;
    CHECK(getrlimit(what, &before) == 0, "getrlimit: %s", strerror(errno));
    CHECK(setrlimit(what, &(struct rlimit){most, before.rlim_max}) == 0, "setrlimit: %s", strerror(errno));
    return before.rlim_cur;
}

static void detached_ones_are_unmapped(const lock_info *none)
{
    (void)none;
    int file = new_file();
    pawl_region *r = new_region(file, SIZE);
    CHECK(mappings() == 1, "%d after create", mappings());
    pawl_region *others[PAWL_REGIONS - 1];
    for (int i = 0; i < PAWL_REGIONS - 1; i++)
        others[i] = attached(file);
    is_refused(file, EMFILE, "one too many");
    CHECK(mappings() == PAWL_REGIONS, "%d after attach", mappings());
    for (int i = 0; i < PAWL_REGIONS - 1; i++)
        CHECK(pawl_region_detach(others[i]) == 0, "detach");
    CHECK(pawl_region_detach(r) == 0 && mappings() == 0, "%d after detach", mappings());
    is_refused(file_of("abc", 3), ENODATA, "three bytes");
    is_refused(file_of((char[4096]){"x"}, 4096), EBADMSG, "a page of text");
    CHECK(mappings() == 0, "%d after an error", mappings());
}

/* Between its look at the file and its claim, another creator comes. */
static void late_creator_loses(const lock_info *none)
{
    (void)none;
    CHECK(pawl_region_detach(new_region(new_file(), SIZE)) == 0, "detach");
    pawl_region *r = NULL;
    int file = new_file();
    comes_first = true;
    int error = pawl_region_create(&r, file, SIZE);
    CHECK(!comes_first && error == EEXIST && r == NULL, "create: %s", pawl_region_error(error));
    CHECK(mappings() == 0, "%d mappings are left", mappings());
    CHECK(pawl_region_detach(attached(file)) == 0, "the other's region");
}

/* Some file systems cannot allocate in advance. */
static void length_will_do(const lock_info *none)
{
    (void)none;
    static const int errors[] = {EOPNOTSUPP, EINVAL};
    pawl_region *r = new_region(new_file(), SIZE);
    int error = pawl_region_detach(r);
    for (int i = 0; i < 2 && error == 0; i++) {
        int file = new_file();
        fallocate_fails = errors[i];
        error = pawl_region_create(&r, file, SIZE);
        CHECK(error == 0 && pawl_region_detach(r) == 0, "create: %s", pawl_region_error(error));
        CHECK(lseek(file, 0, SEEK_END) >= SIZE, "it has no length");
    }
    fallocate_fails = ENOSPC;
    error = pawl_region_create(&r, new_file(), SIZE);
    CHECK(error == ENOSPC, "create: %s", pawl_region_error(error));
    fallocate_fails = EINVAL;
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 16384);
    error = pawl_region_create(&r, new_file(), SIZE);
    CHECK(error == EFBIG, "create: %s", pawl_region_error(error));
}

static int read_only(int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int other = open(path, O_RDONLY);
    CHECK(other >= 0, "%s: %s", path, strerror(errno));
    return other;
}

static void no_room_is_told(const lock_info *none)
{
    (void)none;
    pawl_region *r = NULL;
    CHECK(pawl_region_detach(new_region(new_file(), SIZE)) == 0, "detach");
    int error = pawl_region_create(&r, read_only(new_file()), SIZE);
    CHECK(error == EBADF, "create, read-only: %s", pawl_region_error(error));
    is_refused(read_only(a_region()), EACCES, "a file that cannot be written");
    signal(SIGXFSZ, SIG_IGN);
    rlim_t before = limit(RLIMIT_FSIZE, 1000);
    error = pawl_region_create(&r, new_file(), SIZE);
    limit(RLIMIT_FSIZE, before);
    CHECK(error == EFBIG && r == NULL, "create, with room for 1000 bytes: %s", pawl_region_error(error));
    CHECK(mappings() == 0, "%d mappings are left", mappings());
}

/* So many bytes of address space more than there are. Returns what the limit was. */
static rlim_t leave_room(long bytes)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm != NULL && fscanf(statm, "%ld", &pages) == 1, "statm");
    fclose(statm);
    return limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)bytes);
}

static void no_memory_is_told(const lock_info *none)
{
    (void)none;
#ifdef SANITIZED
    skip("a sanitizer needs memory of its own");
#endif
    enum { LARGE = 64 << 20 };
    pawl_region *r = NULL;
    int small = a_region(), large = new_file(), half = new_file();
    CHECK(pawl_region_detach(new_region(large, LARGE)) == 0, "detach");
    rlim_t before = leave_room(LARGE / 2);
    is_refused(large, ENOMEM, "a large region");
    int error = pawl_region_create(&r, half, LARGE);
    CHECK(error == ENOMEM && r == NULL, "create, large: %s", pawl_region_error(error));
    is_refused(half, EAGAIN, "what could not be mapped");
    CHECK(pawl_region_detach(attached(small)) == 0, "detach");
    leave_room(65536);
    error = pawl_region_create(&r, new_file(), SIZE);
    limit(RLIMIT_AS, before);
    CHECK(error == ENOMEM && r == NULL, "create, with room for its first page: %s", pawl_region_error(error));
    leave_room(0);
    error = pawl_region_create(&r, new_file(), SIZE);
    limit(RLIMIT_AS, before);
    CHECK(error == ENOMEM && r == NULL, "create, without room: %s", pawl_region_error(error));
    CHECK(mappings() == 0, "%d mappings are left", mappings());
}

#define PROMISE(check_)                                                                                      \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "region"                                                \
    }

static const promise promises[] = {
    PROMISE(detached_ones_are_unmapped),
    PROMISE(late_creator_loses),
    PROMISE(length_will_do),
    PROMISE(no_room_is_told),
    PROMISE(no_memory_is_told),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
