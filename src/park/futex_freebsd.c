/* futex_freebsd.c - sleeping in the kernel, on FreeBSD: _umtx_op(2)
 *
 * There are no kinds of sleepers: a wake-up for one kind wakes all, and the others sleep again.
 */
#include "futex.h"

#ifdef __FreeBSD__

#include "events.h"

#include <sys/types.h>

#include <sys/umtx.h>

#include <errno.h>
#include <limits.h>

/* Returns an error number, and leaves errno alone. */
static int umtx(void *word, int op, unsigned long value, void *size, void *time)
{
    int before = errno, error = 0;
    if (_umtx_op(word, op, value, size, time) != 0)
        error = errno;
    errno = before;
    return error;
}

int pawl_futex_wait_bits(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline,
                         uint32_t bits)
{
    (void)bits;
    int of = clock == CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (deadline != NULL && pawl_left(of, deadline) == 0) /* before 0 is invalid there, and 0 has no end */
        return ETIMEDOUT;
    struct _umtx_time until = {._clockid = (uint32_t)of, ._flags = UMTX_ABSTIME};
    if (deadline != NULL)
        until._timeout = *deadline;
    int error = umtx(word, UMTX_OP_WAIT_UINT_PRIVATE, value, deadline != NULL ? (void *)sizeof until : NULL,
                     deadline != NULL ? &until : NULL);
    pawl_count(PAWL_FUTEX_WAITS); /* a changed value is no error here, and not told apart */
    return error == ETIMEDOUT ? ETIMEDOUT : 0;
}

static void wake(_Atomic(uint32_t) *word, unsigned long most)
{
    umtx(word, UMTX_OP_WAKE_PRIVATE, most, NULL, NULL);
    pawl_count(PAWL_FUTEX_WAKES);
}

void pawl_futex_wake_bits(_Atomic(uint32_t) *word, uint32_t bits)
{
    (void)bits;
    wake(word, INT_MAX);
}

void pawl_futex_wake(_Atomic(uint32_t) *word)
{
    wake(word, 1);
}

#endif
