/* debug_shared.c - a lock in shared memory that a second process takes
 *
 * Waiters sleep in tables of their process, where a post from another process does not find them. Processes that were
 * forked from one another record on a shared page what they have taken. Others, which only map the same file, go
 * unnoticed.
 */
#include "debug_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACES 4096 /* of locks with the same place, only the first is watched */

/* Where a lock is, whatever its address (device, inode and offset, hashed), and who took it. */
typedef struct place {
    _Atomic(uint64_t) where;
    _Atomic(int) process; /* OVER after a report */
} place;

enum { NOBODY, OVER = -1 };

static place *places;

void pawl_debug_shared_prepare(void)
{
    void *memory =
        mmap(NULL, PLACES * sizeof(place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    places = memory != MAP_FAILED ? memory : NULL;
}

/* Asks the kernel. The lock has been written to, so a private page is no longer the file's. */
static bool is_in_shared_page(uintptr_t address)
{
    enum { FILE_OR_SHARED = 61, KNOWN = 64 };
    static uintptr_t not_shared[KNOWN]; /* pages found private, so that each is looked up once */
    uintptr_t number = address / (uintptr_t)sysconf(_SC_PAGESIZE);
    uint64_t page = 0;
    if (not_shared[number % KNOWN] == number)
        return false;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool known = pread(file, &page, sizeof page, (off_t)(number * sizeof page)) == (ssize_t)sizeof page;
    close(file);
    bool shared = known && (page >> FILE_OR_SHARED & 1);
    if (!shared)
        not_shared[number % KNOWN] = number;
    return shared;
}

/* Where this line of /proc/self/maps puts the address, if its mapping is shared; else 0. */
static uint64_t where_in_line(const char *line, uintptr_t address)
{
    unsigned long from, to, offset, inode;
    unsigned major, minor;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &from, &to, rights, &offset, &major, &minor, &inode) != 7 ||
        address < from || address >= to || rights[3] != 's')
        return 0;
    uint64_t file = ((uint64_t)major << 52 ^ (uint64_t)minor << 44 ^ inode) * 0x9E3779B97F4A7C15u;
    return (file ^ (address - from + offset)) * 0x9E3779B97F4A7C15u | 1;
}

static uint64_t where(uintptr_t address)
{
    static char text[8192]; /* the debug mode's lock is held */
    uint64_t found = 0;
    size_t have = 0;
    ssize_t more;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    while (found == 0 && (more = read(file, text + have, sizeof text - 1 - have)) > 0) {
        char *line = text, *end;
        have += (size_t)more;
        text[have] = '\0';
        for (; found == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1)
            found = where_in_line(line, address);
        have = strlen(line);
        memmove(text, line, have);
    }
    close(file);
    return found;
}

int pawl_debug_other_process(const void *lock)
{
    uint64_t here;
    if (places == NULL || !is_in_shared_page((uintptr_t)lock) || (here = where((uintptr_t)lock)) == 0)
        return 0;
    place *p = &places[here >> 52];
    uint64_t none = 0;
    int me = (int)getpid(), other = NOBODY;
    atomic_compare_exchange_strong_explicit(&p->where, &none, here, memory_order_relaxed,
                                            memory_order_relaxed);
    if (atomic_load_explicit(&p->where, memory_order_relaxed) != here ||
        atomic_compare_exchange_strong_explicit(&p->process, &other, me, memory_order_relaxed,
                                                memory_order_relaxed) ||
        other == me || other == OVER)
        return 0;
    if (kill(other, 0) != 0 && errno == ESRCH) { /* it has ended, and left the lock to us */
        atomic_store_explicit(&p->process, me, memory_order_relaxed);
        return 0;
    }
    atomic_store_explicit(&p->process, OVER, memory_order_relaxed);
    return other;
}
