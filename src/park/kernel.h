/* kernel.h - the numbers of futex() and membarrier(), also where the compiler does not find the kernel's headers: musl's
 * does not
 */
#pragma once

#if __has_include(<linux/futex.h>) && __has_include(<linux/membarrier.h>)

#include <linux/futex.h>
#include <linux/membarrier.h>

#else

enum {
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAKE_BITSET = 10,
    FUTEX_PRIVATE_FLAG = 128,
    FUTEX_CLOCK_REALTIME = 256,
};

enum {
    MEMBARRIER_CMD_PRIVATE_EXPEDITED = 1 << 3,
    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

#endif
