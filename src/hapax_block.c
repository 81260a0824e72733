/* hapax_block.c - hands out blocks of hapaxes */
#include <pawl/hapax_block.h>
#include "fatal.h"

#define LAST_BLOCK (((uint64_t)1 << (64 - PAWL_HAPAX_BITS)) - 1)

pawl_word pawl_hapax_blocks PAWL_ALIGNED;

uint64_t pawl_hapax_refill(void)
{
    /* Relaxed: only the uniqueness of the result matters. */
    uint64_t block = atomic_fetch_add_explicit(&pawl_hapax_blocks, 1, memory_order_relaxed) + 1;
    if (PAWL_UNLIKELY(block > LAST_BLOCK))
        pawl_fatal("pawl: hapax values exhausted (2^48 blocks of 65536 were used)\n");
    uint64_t hapax = block << PAWL_HAPAX_BITS;
    pawl_self.hapax = hapax + 1;
    return hapax;
}
