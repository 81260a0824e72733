/* membarrier.c - one side of a Dekker handshake pays for both
 *
 * Who releases a mutex stores `held` and then looks for sleepers; who goes to sleep shows itself and then
 * looks at `held`. One of them must see the other, which takes a store-load fence on both sides. Sleeping is
 * rare and slow, releasing is neither, so the sleeper asks the kernel to run a fence on every CPU that runs a
 * thread of this process. Until it is known that the kernel does that, every release fences for itself.
 */
#include <pawl/mutex.h>
#include "sleep.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic(uint32_t) pawl_unlock_fences = 1;

static _Atomic(bool) relied_on; /* releases did without a fence once */
static _Atomic(bool) refused;   /* the kernel has none, or we shall not use it: releases fence for ever */

static bool membarrier(int command)
{
    int before = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = before;
    return done;
}

/* gcc: `-fsanitize=thread` does not know fences. The lab does, and TSan needs none of these two. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"

void pawl_unlock_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst); /* D */
}

/* A sandbox was entered since the start. From now on releases fence for themselves. One that is under way and does
 * not know yet has stored long before a millisecond is over; or it has lost its CPU, and looks later. */
static void fence_by_release(void)
{
    atomic_exchange_explicit(&pawl_unlock_fences, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&relied_on, memory_order_relaxed))
        return;
    int before = errno;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    errno = before;
}

void pawl_sleeper_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst); /* D, if releases fence */
    if (atomic_load_explicit(&refused, memory_order_relaxed))
        return;
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) /* D, if they do not */
        return;
    /* Before the constructor below, or in a child that forked. */
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return;
    fence_by_release();
    atomic_store_explicit(&refused, true, memory_order_relaxed);
}

bool pawl_use_membarrier(bool use)
{
    bool have = use && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    atomic_store_explicit(&refused, !have, memory_order_relaxed);
    if (have)
        atomic_store_explicit(&relied_on, true, memory_order_relaxed);
    atomic_store_explicit(&pawl_unlock_fences, !have, memory_order_relaxed);
    return have;
}

__attribute__((constructor)) static void find_membarrier(void)
{
    pawl_use_membarrier(getenv("PAWL_NO_MEMBARRIER") == NULL);
}
