/* fence.c - the asymmetric fence */
#include "events.h"
#include "fence.h"
#include "futex.h"
#include "kernel.h"
#include "word.h"

#include "../sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNDECIDED, BY_MEMBARRIER, BY_LIGHT_SIDES };

static _Atomic(uint32_t) how;

/* Longer than a store takes to become visible to others. */
#define GRACE_NS 1000000

static bool membarrier(int command)
{
    int before = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = before;
    pawl_count(PAWL_MEMBARRIERS);
    return done;
}

/* gcc's `-fsanitize=thread` warns of fences, which it does not know. The lab checks them, and TSan needs none of
 * these. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"

bool pawl_use_membarrier(bool use)
{
    bool have = use && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    pawl_parked_fence(!have);
    atomic_store_explicit(&how, have ? BY_MEMBARRIER : BY_LIGHT_SIDES, memory_order_release); /* E */
    return have;
}

bool pawl_uses_membarrier(void)
{
    return atomic_load_explicit(&how, memory_order_relaxed) == BY_MEMBARRIER;
}

/* The kernel refuses, and light sides that do not fence yet may be under way. One that runs makes its store visible
 * before the grace period is over; one that has lost its CPU has passed a fence, and loads later. Only then may
 * others rely on the light sides' fences. */
static void fence_late(void)
{
    pawl_parked_fence(true);
    pawl_nap(GRACE_NS);
    atomic_store_explicit(&how, BY_LIGHT_SIDES, memory_order_release); /* E */
}

static bool is_wanted(void)
{
    return getenv("PAWL_NO_MEMBARRIER") == NULL && !pawl_in_sandbox();
}

void pawl_fence_heavy(void)
{
    atomic_thread_fence(memory_order_seq_cst);                       /* D, if light sides fence */
    uint32_t now = atomic_load_explicit(&how, memory_order_acquire); /* E: the grace period is over */
    if (now == BY_LIGHT_SIDES)
        return;
    if (now == BY_MEMBARRIER && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) /* D, if they do not */
        return;
    /* Before the constructor below, or in a child of fork(). */
    if (now == UNDECIDED && !is_wanted()) {
        fence_late();
        return;
    }
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return;
    fence_late(); /* the process has entered a sandbox, say */
}

__attribute__((constructor(101))) static void ask_kernel(void)
{
    pawl_use_membarrier(is_wanted());
}
