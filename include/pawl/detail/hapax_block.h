/* hapax_block.h - hapaxes: 64-bit values, each issued once in the life of a process and its forks
 *
 * The upper 48 bits name a block that one thread owns, the lower 16 count within it: only one acquisition in 65536
 * touches shared memory. Zero is never issued.
 */
#pragma once

#include "slice.h"

#define PAWL_HAPAX_BITS 16

/* The next hapax of this thread's block. A child of fork() leaves the rest of the block to its parent. */
PAWL_SLICE(hapax, uint64_t, .child = PAWL_ZEROED);

#ifdef __cplusplus
extern "C" {
#endif

extern pawl_word *pawl_hapax_blocks; /* blocks issued so far, in this process and its forks */
uint64_t pawl_hapax_refill(void);    /* the first hapax of a new block; aborts if none is left */

#ifdef __cplusplus
}
#endif

static inline uint64_t pawl_hapax_next(void)
{
    uint64_t hapax = pawl_hapax_self++;
    if (PAWL_UNLIKELY((hapax & ((1u << PAWL_HAPAX_BITS) - 1)) == 0))
        return pawl_hapax_refill();
    return hapax;
}
