/* futex_darwin.c - sleeping in the kernel, on macOS: __ulock_wait and __ulock_wake, as libc++ and Rust do
 *
 * There are no kinds of sleepers: a wake-up for one kind wakes all, and the others sleep again. A time-out counts
 * microseconds from now, in 32 bits: a deadline further away is waited for in parts, and so is one on a clock that is
 * set meanwhile.
 */
#include "futex.h"

#ifdef __APPLE__

#include "events.h"

#include <errno.h>

enum { COMPARE_AND_WAIT = 1, WAKE_ALL = 0x100, NO_ERRNO = 0x1000000 };
enum { MOST_US = 1000000 };

/* From the system library; negative results are error numbers. */
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t microseconds);
int __ulock_wake(uint32_t operation, void *address, uint64_t value);

int pawl_futex_wait_bits(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline,
                         uint32_t bits)
{
    (void)bits;
    uint32_t microseconds = 0; /* no end */
    if (deadline != NULL) {
        int64_t left = pawl_left(clock == CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, deadline);
        if (left == 0)
            return ETIMEDOUT;
        microseconds = left / 1000 < MOST_US ? (uint32_t)(left / 1000) + 1 : MOST_US;
    }
    __ulock_wait(COMPARE_AND_WAIT | NO_ERRNO, word, value, microseconds);
    pawl_count(PAWL_FUTEX_WAITS); /* a changed value is no error here, and not told apart */
    return 0;                     /* if the deadline has passed, the next call says so */
}

void pawl_futex_wake_bits(_Atomic(uint32_t) *word, uint32_t bits)
{
    (void)bits;
    __ulock_wake(COMPARE_AND_WAIT | WAKE_ALL | NO_ERRNO, word, 0);
    pawl_count(PAWL_FUTEX_WAKES);
}

void pawl_futex_wake(_Atomic(uint32_t) *word)
{
    __ulock_wake(COMPARE_AND_WAIT | NO_ERRNO, word, 0);
    pawl_count(PAWL_FUTEX_WAKES);
}

#endif
