/* heap.c - see heap.h */
#include "heap.h"
#include "shadow.h"
#include <errno.h>
#include <stdlib.h>

enum { REGION = 4 << 20, REGIONS = LAB_SLOTS + 1, SETUP = LAB_SLOTS, MAX_BLOCKS = 4096 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

extern char __executable_start, etext;

static char *regions;
static size_t used[REGIONS];
static struct block {
    uintptr_t address;
    size_t size;
    const void *pc;
    bool live;
} blocks[MAX_BLOCKS];
static unsigned block_count, setup_blocks;

void *lab_allocate(size_t size)
{
    void *p = __libc_calloc(1, size);
    if (!p)
        lab_die("out of memory");
    return p;
}

void *lab_reallocate(void *old, size_t size)
{
    void *p = __libc_realloc(old, size);
    if (!p)
        lab_die("out of memory");
    return p;
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

/* libc allocates for itself (a stream's buffer) on whatever stack it runs; that must outlive the execution. */
static bool is_modelled(const void *pc)
{
    bool from_program = (const char *)pc >= &__executable_start && (const char *)pc < &etext;
    return from_program && (lab_checking() || lab_run.in_setup);
}

static void *allocate(size_t alignment, size_t size, const void *pc)
{
    int region = lab_current ? lab_current->id : SETUP;
    if (alignment < 16)
        alignment = 16;
    size_t at = (used[region] + alignment - 1) & ~(alignment - 1);
    if (at + size > REGION || block_count == MAX_BLOCKS) {
        errno = ENOMEM;
        return NULL;
    }
    if (!regions)
        regions = lab_map((size_t)REGIONS * REGION);
    used[region] = at + size;
    char *p = regions + (size_t)region * REGION + at;
    blocks[block_count++] = (struct block){(uintptr_t)p, size, pc, true};
    if (lab_current && size)
        lab_shadow_access((uintptr_t)p, size, LAB_WRITES, pc); /* malloc hands the memory over, and has cleared it */
    return p;
}

static bool in_regions(const void *p)
{
    return regions && (uintptr_t)p - (uintptr_t)regions < (uintptr_t)REGIONS * REGION;
}

static struct block *block_at(const void *p)
{
    for (unsigned i = block_count; i-- > 0;)
        if (blocks[i].address == (uintptr_t)p && blocks[i].live)
            return &blocks[i];
    return NULL;
}

static void release(void *p, const void *pc)
{
    struct block *b = block_at(p);
    if (!lab_checking())
        return;
    if (!b)
        lab_violation(LAB_DESTROYED, "freed twice, or never allocated", (uintptr_t)p, pc, NULL);
    b->live = false;
    if (b->size)
        lab_shadow_destroy(b->address, b->size, pc);
}

/* Leaves what setup allocated, unless everything goes. */
void lab_heap_reset(bool everything)
{
    if (lab_run.in_setup)
        setup_blocks = block_count;
    block_count = everything ? 0 : setup_blocks;
    for (unsigned i = 0; i < block_count; i++)
        blocks[i].live = true;
    for (int i = 0; i < REGIONS; i++)
        if (everything || i != SETUP)
            used[i] = 0;
}

bool lab_heap_leaks(void)
{
    for (unsigned i = setup_blocks; i < block_count; i++)
        if (blocks[i].live) {
            lab_violation(LAB_LEAK, "allocated and never freed", blocks[i].address, blocks[i].pc, NULL);
            return true;
        }
    return false;
}

/* ---- the C library's names ------------------------------------------------------------------------------------ */

#define PC __builtin_return_address(0)

void *malloc(size_t size)
{
    return is_modelled(PC) ? allocate(0, size, PC) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!is_modelled(PC))
        return __libc_calloc(count, size);
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return allocate(0, total, PC); /* regions are all zero when an execution begins */
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return is_modelled(PC) ? allocate(alignment, size, PC) : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return is_modelled(PC) ? allocate(alignment, size, PC) : __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *p = is_modelled(PC) ? allocate(alignment, size, PC) : __libc_memalign(alignment, size);
    if (!p)
        return ENOMEM;
    *result = p;
    return 0;
}

void *realloc(void *old, size_t size)
{
    if (!(old ? in_regions(old) : is_modelled(PC)))
        return __libc_realloc(old, size);
    void *p = allocate(0, size, PC);
    if (!p || !old)
        return p;
    const struct block *b = block_at(old);
    if (b)
        memcpy(p, old, b->size < size ? b->size : size);
    release(old, PC);
    return p;
}

void free(void *p)
{
    if (in_regions(p))
        release(p, PC);
    else
        __libc_free(p);
}
