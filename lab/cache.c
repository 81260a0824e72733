/* cache.c - see cache.h */
#include "cache.h"
#include "fiber.h"
#include <sys/mman.h>

enum { FIRST = 1 << 14, PROBES = 48 };

struct entry {
    uint64_t state; /* 0 = free */
    uint64_t budgets;
};

static struct entry *table;
static size_t size, used, limit;
static bool full;

static struct entry *map(size_t entries)
{
    void *p = mmap(NULL, entries * sizeof(struct entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        lab_die("out of memory");
    return p;
}

void lab_cache_free(void)
{
    if (table)
        munmap(table, size * sizeof *table);
    table = NULL;
    size = 0;
}

void lab_cache_reset(size_t limit_bytes)
{
    lab_cache_free();
    limit = limit_bytes / sizeof *table;
    size = FIRST;
    table = map(size);
    used = 0;
    full = false;
}

size_t lab_cache_entries(void)
{
    return used;
}

bool lab_cache_full(void)
{
    return full;
}

/* Is every byte of a at least that of b? With bytes below 128, no borrow crosses a byte whose top bit is set. */
static bool covers(uint64_t a, uint64_t b)
{
    const uint64_t top = 0x8080808080808080;
    return (((a | top) - b) & top) == top;
}

static bool put(uint64_t state, uint64_t budgets)
{
    for (size_t k = 0; k < PROBES; k++) {
        struct entry *e = &table[(state + k) & (size - 1)];
        if (e->state == 0) {
            *e = (struct entry){state, budgets};
            used++;
            return true;
        }
    }
    return false;
}

static void grow(void)
{
    struct entry *old = table;
    size_t old_size = size;
    size *= 2;
    table = map(size);
    used = 0;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].state)
            put(old[i].state, old[i].budgets);
    munmap(old, old_size * sizeof *old);
}

bool lab_cache_admit(uint64_t state, uint64_t budgets)
{
    state |= state == 0;
    for (size_t k = 0; k < PROBES; k++) {
        struct entry *e = &table[(state + k) & (size - 1)];
        if (e->state == 0)
            break;
        if (e->state != state)
            continue;
        if (covers(e->budgets, budgets))
            return false;
        if (covers(budgets, e->budgets)) {
            e->budgets = budgets;
            return true;
        }
    }
    if (2 * used >= size && 2 * size <= limit)
        grow();
    if (4 * used >= 3 * size || !put(state, budgets))
        full = true;
    return true;
}
