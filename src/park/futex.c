/* futex.c - sleeping in the kernel: what all systems share, and Linux. Others: futex_freebsd.c, futex_darwin.c */
#include "events.h"
#include "futex.h"

#include <errno.h>

int pawl_deadline_check(int clock, const struct timespec *deadline)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return EINVAL;
    return deadline->tv_nsec < 0 || deadline->tv_nsec >= PAWL_SECOND ? EINVAL : 0;
}

int pawl_futex_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline)
{
    return pawl_futex_wait_bits(word, value, clock, deadline, PAWL_ALL_BITS);
}

#ifdef __linux__

#include "kernel.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

static int wait_for(_Atomic(uint32_t) *word, int op, uint32_t value, const struct timespec *deadline,
                    uint32_t bits)
{
    int before = errno, error = 0;
    if (syscall(SYS_futex, word, op, value, deadline, NULL, bits) != 0)
        error = errno; /* EAGAIN: the value has changed; EINTR: a signal */
    errno = before;
    pawl_count(PAWL_FUTEX_WAITS);
    if (error == EAGAIN)
        pawl_count(PAWL_FUTEX_WAITS_VOID);
    return error;
}

int pawl_futex_wait_bits(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline,
                         uint32_t bits)
{
    if (deadline != NULL && deadline->tv_sec < 0) /* the kernel would call it invalid */
        return ETIMEDOUT;
    int op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
    return wait_for(word, op, value, deadline, bits) == ETIMEDOUT ? ETIMEDOUT : 0;
}

bool pawl_futex_wait_shared(_Atomic(uint32_t) *word, uint32_t value, long nanoseconds)
{
    struct timespec end;
    int error;
    if (nanoseconds != 0)
        end = pawl_from_now(CLOCK_MONOTONIC, nanoseconds);
    do
        error = wait_for(word, FUTEX_WAIT_BITSET, value, nanoseconds != 0 ? &end : NULL, PAWL_ALL_BITS);
    while (error == EINTR); /* a signal is no wake-up: a thread that gets many has to see the end, too */
    return error != ETIMEDOUT;
}

static void wake_op(_Atomic(uint32_t) *word, int op, int most, uint32_t bits)
{
    int before = errno;
    syscall(SYS_futex, word, op, most, NULL, NULL, bits);
    errno = before;
    pawl_count(PAWL_FUTEX_WAKES);
}

static void wake(_Atomic(uint32_t) *word, int most, uint32_t bits)
{
    wake_op(word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, most, bits);
}

void pawl_futex_wake_shared(_Atomic(uint32_t) *word)
{
    wake_op(word, FUTEX_WAKE_BITSET, INT_MAX, PAWL_ALL_BITS);
}

void pawl_futex_wake_bits(_Atomic(uint32_t) *word, uint32_t bits)
{
    wake(word, INT_MAX, bits);
}

void pawl_futex_wake(_Atomic(uint32_t) *word)
{
    wake(word, 1, PAWL_ALL_BITS);
}

/* Not nanosleep(), which is a cancellation point. */
void pawl_nap(long nanoseconds)
{
    int before = errno;
    struct timespec left = {.tv_nsec = nanoseconds};
    while (syscall(SYS_nanosleep, &left, &left) != 0 && errno == EINTR)
        ;
    errno = before;
}

#else

/* Nobody wakes this word. */
void pawl_nap(long nanoseconds)
{
    _Atomic(uint32_t) word = 0;
    struct timespec end = pawl_from_now(CLOCK_MONOTONIC, nanoseconds);
    while (pawl_futex_wait(&word, 0, CLOCK_MONOTONIC, &end) != ETIMEDOUT)
        ;
}

#endif
