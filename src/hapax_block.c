/* hapax_block.c - hands out blocks of hapaxes */
#include <pawl/detail/hapax_block.h>
#include "fatal.h"

#include <sys/mman.h>

#define LAST_BLOCK (((uint64_t)1 << (64 - PAWL_HAPAX_BITS)) - 1)

static pawl_word before_start; /* until share_blocks() has run; for good if it fails */
pawl_word *pawl_hapax_blocks = &before_start;

#if !defined(PAWL_IN_LAB) && !defined(PAWL_IN_PTHREAD_MUTEX) /* whose shared mutexes are glibc's */
/* On a page shared with children of fork(), so that no two processes draw the same hapax. */
__attribute__((constructor(101))) static void share_blocks(void)
{
    void *page = mmap(NULL, sizeof(pawl_word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    uint64_t taken = atomic_load_explicit(&before_start, memory_order_relaxed);
    if (taken != 0) /* a write would allocate the page */
        atomic_store_explicit((pawl_word *)page, taken, memory_order_relaxed);
    pawl_hapax_blocks = page;
}
#endif

uint64_t pawl_hapax_refill(void)
{
    /* Relaxed: only the uniqueness of the result matters. */
    uint64_t block = atomic_fetch_add_explicit(pawl_hapax_blocks, 1, memory_order_relaxed) + 1;
    if (PAWL_UNLIKELY(block > LAST_BLOCK))
        pawl_fatal("pawl: hapax values exhausted (2^48 blocks of 65536 were used)\n");
    uint64_t hapax = block << PAWL_HAPAX_BITS;
    pawl_hapax_self = hapax + 1;
    return hapax;
}
