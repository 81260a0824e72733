/* sleep.c - sleeping on a word, and time */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_COUNT */
#endif
#include "sleep.h"

#include <pawl/wait.h>

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define YEAR   31536000

int pawl_deadline_check(int clock, const struct timespec *deadline)
{
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return EINVAL;
    return deadline->tv_nsec < 0 || deadline->tv_nsec >= SECOND ? EINVAL : 0;
}

int pawl_futex_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline)
{
    if (deadline != NULL && deadline->tv_sec < 0) /* which the kernel would call invalid */
        return ETIMEDOUT;
    int op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
    int before = errno, result = 0;
    if (syscall(SYS_futex, word, op, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY) != 0)
        result = errno == ETIMEDOUT ? ETIMEDOUT : 0; /* EAGAIN: not the value any more; EINTR: a signal */
    errno = before;
    return result;
}

void pawl_futex_wake(_Atomic(uint32_t) *word)
{
    int before = errno;
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    errno = before;
}

uint64_t pawl_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

int64_t pawl_left(int clock, const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(clock, &now);
    if (deadline->tv_sec - now.tv_sec > YEAR)
        return INT64_MAX;
    return (deadline->tv_sec - now.tv_sec) * SECOND + (deadline->tv_nsec - now.tv_nsec);
}

/* ---- how long a pause is: between 4 and 140 cycles, by make */

#define SAMPLE    64
#define SAMPLES   4
#define ONE_CPU   UINT32_MAX
#define NOT_KNOWN 0

static _Atomic(uint32_t) pauses_in_64us; /* that many, or one of the two above */

static bool have_one_cpu(void)
{
    int before = errno;
    cpu_set_t set;
    bool one = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
    errno = before;
    return one;
}

/* The shortest of a few, because a thread may lose its CPU while it measures. */
static uint32_t measure_pauses(void)
{
    if (have_one_cpu())
        return ONE_CPU;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t start = pawl_nanoseconds();
        for (int k = 0; k < SAMPLE; k++)
            pawl_pause();
        uint64_t took = pawl_nanoseconds() - start;
        if (took < shortest)
            shortest = took;
    }
    return (uint32_t)(65536u * SAMPLE / (shortest > SAMPLE ? shortest : SAMPLE));
}

uint32_t pawl_pauses(uint32_t nanoseconds)
{
    if (nanoseconds == 0)
        return 0;
    uint32_t rate = atomic_load_explicit(&pauses_in_64us, memory_order_relaxed);
    if (PAWL_UNLIKELY(rate == NOT_KNOWN)) {
        rate = measure_pauses();
        atomic_store_explicit(&pauses_in_64us, rate, memory_order_relaxed);
    }
    return rate == ONE_CPU ? 0 : (uint32_t)((uint64_t)nanoseconds * rate >> 16) + 1;
}
