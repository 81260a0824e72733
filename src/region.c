/* region.c - makes and attaches regions
 *
 * A file that is to become a region goes through three states: empty; claimed by one creator, by a CAS in its first
 * page; ready. Its contents count only in the last. A creator that dies or fails before leaves a file that nobody
 * attaches. It never gets shorter, since others may have mapped it already.
 */
#include "region.h"

#ifdef PAWL_HAS_REGIONS

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC   UINT64_C(0x4e4f494745524c50) /* "PLREGION" where the lowest byte comes first */
#define VERSION 1
#define READY   2

/* Two C libraries have two kinds of robust mutexes. */
#ifdef __GLIBC__
#define LIBC 1
#else
#define LIBC 2
#endif

typedef struct header {
    _Atomic(uint64_t) magic; /* written when the rest of the description is there */
    uint32_t version;
    _Atomic(uint32_t) state; /* 0, 1: claimed, 2: ready */
    uint32_t libc, life_size, seat_size, seats;
    uint64_t memory_at, size; /* of the program's memory */
} header;

/* ---- mapping one */

static int map(int file, size_t size, header **base)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    *base = p;
    return p == MAP_FAILED ? errno : 0;
}

static int be_ready(void)
{
    return pawl_life_is_told() ? pawl_seat_expect() : ENOTSUP;
}

static int attach(pawl_region **region, int file, size_t size)
{
    header *base;
    int error = map(file, PAWL_MEMORY_AT + size, &base);
    if (error != 0)
        return error;
    error = pawl_region_enter(region, base, size);
    if (error != 0)
        munmap(base, PAWL_MEMORY_AT + size);
    return error;
}

/* ---- making one */

/* Room in the file system for all of it, lest a store fail later. Where it cannot be had in advance, only the length.
 * Never makes the file shorter. */
static int allocate(int file, size_t size)
{
    int error = posix_fallocate(file, 0, (off_t)size);
    if (error == EOPNOTSUPP || error == EINVAL)
        error = ftruncate(file, (off_t)size) == 0 ? 0 : errno;
    return error;
}

/* One of several creators gets it. The byte makes the page, and changes nothing if somebody else was here already:
 * nothing else is in this place. */
static int claim(int file, header **base)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EINVAL;
    if (status.st_size != 0)
        return EEXIST;
    if (pwrite(file, "", 1, PAWL_SEATS_AT - 1) != 1)
        return errno;
    int error = map(file, PAWL_SEATS_AT, base);
    if (error != 0)
        return error;
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong_explicit(&(*base)->state, &nobody, 1, memory_order_relaxed,
                                                memory_order_relaxed))
        return 0;
    munmap(*base, PAWL_SEATS_AT);
    return EEXIST;
}

static int make(int file, size_t size, header *base)
{
    base->version = VERSION;
    base->libc = LIBC;
    base->life_size = sizeof(pawl_life);
    base->seat_size = sizeof(pawl_seat);
    base->seats = PAWL_SEATS;
    base->memory_at = PAWL_MEMORY_AT;
    base->size = size;
    PAWL_REGION_STEP("create: about to say what it is");
    atomic_store_explicit(&base->magic, MAGIC, memory_order_release); /* D: a description */
    PAWL_REGION_STEP("create: described");
    return allocate(file, PAWL_MEMORY_AT + size);
}

int pawl_region_create(pawl_region **region, int file, size_t size)
{
    header *base = NULL;
    if (size == 0 || size > (size_t)1 << 46)
        return EINVAL;
    int error = be_ready();
    if (error == 0 && pawl_region_table_is_full())
        error = EMFILE;
    if (error == 0)
        error = claim(file, &base);
    if (error != 0)
        return error;
    PAWL_REGION_STEP("create: claimed");
    error = make(file, size, base);
    PAWL_REGION_STEP("create: allocated");
    if (error == 0)
        error = attach(region, file, size);
    if (error == 0) {
        for (unsigned i = 0; i < PAWL_SEATS; i++)
            pawl_life_prepare(&(*region)->seats[i].life);
        PAWL_REGION_STEP("create: seats are there");
        atomic_store_explicit(&base->state, READY, memory_order_release); /* R: all of it is written */
    }
    munmap(base, PAWL_SEATS_AT);
    return error;
}

/* ---- judging one */

static bool is_like_ours(const header *h)
{
    return h->version == VERSION && h->libc == LIBC && h->life_size == sizeof(pawl_life) &&
           h->seat_size == sizeof(pawl_seat) && h->seats == PAWL_SEATS && h->memory_at == PAWL_MEMORY_AT;
}

/* The size is read once: whoever can write the file can change it. */
static int judge(header *h, size_t length, size_t *size)
{
    uint64_t magic = atomic_load_explicit(&h->magic, memory_order_acquire); /* D */
    if (magic == 0 && length <= PAWL_SEATS_AT)
        return EAGAIN; /* the creator has not come further */
    if (magic == __builtin_bswap64(MAGIC))
        return EPROTONOSUPPORT;
    if (magic != MAGIC)
        return EBADMSG;
    if (h->version != VERSION)
        return EPROTONOSUPPORT;
    if (atomic_load_explicit(&h->state, memory_order_acquire) != READY) /* R */
        return EAGAIN;
    if (!is_like_ours(h))
        return EPROTONOSUPPORT;
    *size = *(volatile uint64_t *)&h->size;
    if (*size == 0 || *size > (size_t)1 << 46)
        return EBADMSG;
    return length < PAWL_MEMORY_AT + *size ? ENODATA : 0;
}

int pawl_region_attach(pawl_region **region, int file)
{
    struct stat status;
    header *base;
    int error = be_ready();
    if (error != 0)
        return error;
    if (fstat(file, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EBADMSG;
    if (status.st_size < (off_t)sizeof *base)
        return ENODATA;
    error = map(file, PAWL_SEATS_AT, &base);
    if (error != 0)
        return error;
    size_t size;
    error = judge(base, (size_t)status.st_size, &size);
    munmap(base, PAWL_SEATS_AT);
    return error != 0 ? error : attach(region, file, size);
}

const char *pawl_region_error(int error)
{
    switch (error) {
    case EEXIST:
        return "the file is not empty";
    case EBADMSG:
        return "the file is no region";
    case EPROTONOSUPPORT:
        return "the region is of another version, byte order or C library";
    case ENODATA:
        return "the file is empty, or shorter than its header says";
    case EAGAIN:
        return "the region is not finished: it is being made, or its creator died or failed";
    case EMFILE:
        return "this process has as many regions as it can have";
    case ENOTSUP:
        return "this kernel does not tell of a thread's death (robust list)";
    case EBUSY:
        return "a thread of this process still uses the region";
    default:
        return strerror(error);
    }
}

#endif
