/* region.c - files that are regions, and files that are none */
#include "files.h"

#include <fcntl.h>
#include <sys/resource.h>

/* The first fields of the header (src/region.c). */
typedef struct header {
    uint64_t magic;
    uint32_t version, state, libc, life_size, seat_size, seats;
    uint64_t memory_at, size;
} header;

/* A region with one field changed. */
static void is_refused_with(size_t at, const void *bytes, size_t size, int with, const char *what)
{
    int file = a_region();
    CHECK(pwrite(file, bytes, size, (off_t)at) == (ssize_t)size, "pwrite");
    is_refused(file, with, what);
    close(file);
}

#define REFUSED(field, value, with)                                                                          \
    is_refused_with(offsetof(header, field), &(uint64_t){value}, sizeof((header *)0)->field, with, #field)

static void others_are_refused(const lock_info *none)
{
    (void)none;
    static char zeros[200000], text[200000];
    memset(text, 'x', sizeof text);
    header h;
    int file = a_region();
    CHECK(pread(file, &h, sizeof h, 0) == sizeof h, "pread");
    is_refused(new_file(), ENODATA, "an empty file");
    is_refused(file_of(text, 10), ENODATA, "ten bytes");
    is_refused(file_of(text, sizeof text), EBADMSG, "text");
    is_refused(file_of(zeros, sizeof zeros), EBADMSG, "zeros");
    is_refused(file_of(zeros, 4096), EAGAIN, "a page of zeros");
    is_refused(-1, EBADF, "no file");
    is_refused(open("/dev/zero", O_RDWR), EBADMSG, "a device");
    is_refused(open("/", O_RDONLY), EBADMSG, "a folder");
    REFUSED(magic, h.magic + 1, EBADMSG);
    REFUSED(magic, __builtin_bswap64(h.magic), EPROTONOSUPPORT);
    REFUSED(version, h.version + 1, EPROTONOSUPPORT);
    REFUSED(state, 0, EAGAIN);
    REFUSED(state, 1, EAGAIN);
    REFUSED(libc, h.libc + 1, EPROTONOSUPPORT);
    REFUSED(life_size, h.life_size + 8, EPROTONOSUPPORT);
    REFUSED(seat_size, h.seat_size * 2, EPROTONOSUPPORT);
    REFUSED(seats, h.seats - 1, EPROTONOSUPPORT);
    REFUSED(memory_at, h.memory_at + 4096, EPROTONOSUPPORT);
    REFUSED(size, 0, EBADMSG);
    REFUSED(size, UINT64_MAX, EBADMSG);
    REFUSED(size, (uint64_t)SIZE + 1, ENODATA);
}

static void the_truncated_are_refused(const lock_info *none)
{
    (void)none;
    int file = a_region();
    off_t length = lseek(file, 0, SEEK_END);
    pawl_region *r = attached(file);
    CHECK(pawl_region_detach(r) == 0, "detach");
    for (off_t shorter = length - 1; shorter > 60; shorter /= 2) {
        CHECK(ftruncate(file, shorter) == 0, "ftruncate");
        is_refused(file, ENODATA, "a truncated region");
    }
}

static void what_is_there_is_not_overwritten(const lock_info *none)
{
    (void)none;
    pawl_region *r, *other = new_region(new_file(), SIZE);
    int file = a_region(), text = file_of("abc", 3);
    CHECK(pawl_region_create(&r, file, SIZE) == EEXIST, "made a region of a region");
    CHECK(pawl_region_create(&r, text, SIZE) == EEXIST && lseek(text, 0, SEEK_END) == 3,
          "made a region of text");
    CHECK(pawl_region_create(&r, new_file(), 0) == EINVAL, "made a region of no size");
    CHECK(pawl_region_create(&r, new_file(), SIZE_MAX) == EINVAL, "made a region of all memory");
    CHECK(pawl_region_create(&r, -1, SIZE) == EBADF, "made a region of no file");
    CHECK(pawl_region_create(&r, open("/dev/zero", O_RDWR), SIZE) == EINVAL, "made a region of a device");
    CHECK(pawl_region_detach(other) == 0, "detach");
}

/* Others may have mapped the file by now; so it keeps its length, and stays half a region. */
static void failed_creation_takes_nothing_away(const lock_info *none)
{
    (void)none;
    pawl_region *r = NULL, *first = new_region(new_file(), SIZE);
    int file = new_file();
    struct rlimit before;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "getrlimit: %s", strerror(errno));
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){16384, before.rlim_max}) == 0, "setrlimit: %s",
          strerror(errno));
    int error = pawl_region_create(&r, file, SIZE);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "setrlimit: %s", strerror(errno));
    CHECK(error == EFBIG && r == NULL, "create: %s", pawl_region_error(error));
    CHECK(lseek(file, 0, SEEK_END) >= 4096, "the file is shorter than what others map");
    is_refused(file, EAGAIN, "half a region");
    CHECK(pawl_region_create(&r, file, SIZE) == EEXIST, "made a region of half a region");
    CHECK(pawl_region_detach(first) == 0, "detach");
}

static void errors_have_texts(const lock_info *none)
{
    (void)none;
    static const int errors[] = {EEXIST, EBADMSG, EPROTONOSUPPORT, ENODATA, EAGAIN,
                                 EMFILE, ENOTSUP, EBUSY,           ENOMEM,  EINVAL};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const char *text = pawl_region_error(errors[i]);
        CHECK(text != NULL && text[0] != '\0', "%s has no text", strerror(errors[i]));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(text, pawl_region_error(errors[k])) != 0, "%s: the same text twice", text);
    }
    CHECK(strcmp(pawl_region_error(ENOMEM), strerror(ENOMEM)) == 0, "%s", pawl_region_error(ENOMEM));
}

static void create_one(void *arg)
{
    pawl_region *r;
    int error = pawl_region_create(&r, *(int *)arg, SIZE);
    CHECK(error == 0 || error == EEXIST, "create: %s", pawl_region_error(error));
    if (error == 0)
        _exit(9);
}

static void one_creator_wins(const lock_info *none)
{
    (void)none;
    enum { CREATORS = 4 };
    CHECK(pawl_region_detach(new_region(new_file(), 1)) == 0, "detach");
    for (size_t i = 0; i < scaled(100); i++) {
        int file = new_file(), won = 0, status;
        pid_t child[CREATORS];
        for (int k = 0; k < CREATORS; k++)
            child[k] = start(create_one, &file);
        for (int k = 0; k < CREATORS; k++) {
            CHECK(waitpid(child[k], &status, 0) == child[k] && WIFEXITED(status), "a creator died");
            won += WEXITSTATUS(status) == 9;
        }
        CHECK(won == 1, "%d creators have won", won);
        CHECK(pawl_region_detach(attached(file)) == 0, "detach");
        close(file);
    }
}

/* memfd, shm_open and open, and the same memory in each mapping. */
static void any_file_will_do(const lock_info *none)
{
    (void)none;
    char path[] = "/tmp/pawl-region-XXXXXX", name[64];
    snprintf(name, sizeof name, "/pawl-region-%d", (int)getpid());
    int files[] = {new_file(), shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600), mkstemp(path)};
    shm_unlink(name);
    unlink(path);
    for (int i = 0; i < 3; i++) {
        CHECK(files[i] >= 0, "file %d: %s", i, strerror(errno));
        pawl_region *a = new_region(files[i], SIZE), *b = attached(files[i]);
        char *x = pawl_region_memory(a), *y = pawl_region_memory(b);
        CHECK(a != b && x != y && pawl_region_size(a) == SIZE && pawl_region_size(b) == SIZE, "sizes differ");
        CHECK(x[0] == 0 && x[SIZE - 1] == 0 && (uintptr_t)x % 4096 == 0, "the memory is not zero");
        x[SIZE - 1] = 7;
        CHECK(y[SIZE - 1] == 7, "they do not share memory");
        close(files[i]);
        CHECK(pawl_region_detach(a) == 0 && y[SIZE - 1] == 7 && pawl_region_detach(b) == 0, "detach");
    }
}

static void regions_come_and_go(const lock_info *none)
{
    (void)none;
    int file = new_file();
    pawl_region *r[PAWL_REGIONS + 1];
    r[0] = new_region(file, SIZE);
    for (int round = 0; round < 3; round++) {
        pawl_mutex_shared *m[PAWL_REGIONS];
        for (int i = round == 0; i < PAWL_REGIONS; i++)
            r[i] = attached(file);
        for (int i = 0; i < PAWL_REGIONS; i++)
            m[i] = pawl_region_memory(r[i]);
        CHECK(pawl_region_attach(&r[PAWL_REGIONS], file) == EMFILE, "there is one too many");
        int other = new_file();
        CHECK(pawl_region_create(&r[PAWL_REGIONS], other, SIZE) == EMFILE && lseek(other, 0, SEEK_END) == 0,
              "there is one too many, or half of it");
        for (int i = 0; i < PAWL_REGIONS; i++) /* the same mutex, with another seat each */
            CHECK(pawl_mutex_shared_lock(r[i], m[i]) == 0 && pawl_mutex_shared_unlock(r[i], m[i]) == 0,
                  "lock");
        for (int i = 0; i < PAWL_REGIONS; i++)
            CHECK(pawl_region_detach(r[i]) == 0, "detach");
    }
}

static const promise promises[] = {
    {"others_are_refused", others_are_refused, NULL, "region"},
    {"the_truncated_are_refused", the_truncated_are_refused, NULL, "region"},
    {"what_is_there_is_not_overwritten", what_is_there_is_not_overwritten, NULL, "region"},
    {"failed_creation_takes_nothing_away", failed_creation_takes_nothing_away, NULL, "region"},
    {"errors_have_texts", errors_have_texts, NULL, "region"},
    {"one_creator_wins", one_creator_wins, NULL, "region"},
    {"any_file_will_do", any_file_will_do, NULL, "region"},
    {"regions_come_and_go", regions_come_and_go, NULL, "region"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
