/* fence.c - the asymmetric fence */
#include "clock.h"
#include "events.h"
#include "fence.h"
#include "futex.h"
#include "kernel.h"
#include "word.h"

#include "../fork.h"
#include "../sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNDECIDED, BY_MEMBARRIER, BY_LIGHT_SIDES };

static _Atomic(uint32_t) how;

/* Longer than a store takes to become visible to others. */
#define GRACE_NS 1000000

/* Nanoseconds: if threads spend a quarter of a WINDOW in membarriers, it is cheaper if light sides fence. Of one call no
 * more than CALL counts, because its thread may have lost its CPU. */
#define WINDOW 16000000u
#define CALL   100000u

static struct {
    _Atomic(uint32_t) since; /* ticks: when the window began         */
    _Atomic(uint32_t) spent; /* ticks in membarriers since then      */
    _Atomic(uint32_t) over;  /* they are too dear: light sides fence */
} cost PAWL_ALIGNED;

static bool membarrier(int command)
{
    int before = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = before;
    pawl_count(PAWL_MEMBARRIERS);
    return done;
}

/* True once, when membarriers have become too dear: each interrupts every CPU that runs the process, and the kernel
 * makes one at a time. */
static bool is_too_dear(uint32_t start, uint32_t now)
{
    uint32_t took = now - start < PAWL_TICKS(CALL) ? now - start : PAWL_TICKS(CALL);
    uint32_t since = atomic_load_explicit(&cost.since, memory_order_relaxed);
    if (now - since > PAWL_TICKS(WINDOW)) {
        atomic_store_explicit(&cost.since, now, memory_order_relaxed);
        atomic_store_explicit(&cost.spent, took, memory_order_relaxed);
        return false;
    }
    uint32_t spent = atomic_fetch_add_explicit(&cost.spent, took, memory_order_relaxed) + took;
    return spent >= PAWL_TICKS(WINDOW) / 4 &&
           atomic_exchange_explicit(&cost.over, 1, memory_order_relaxed) == 0;
}

/* gcc's `-fsanitize=thread` warns of fences, which it does not know. The lab checks them, and TSan needs none of
 * these. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"

bool pawl_use_membarrier(bool use)
{
    bool have = use && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    atomic_store_explicit(&cost.over, 0, memory_order_relaxed);
    pawl_parked_fence(!have);
    atomic_store_explicit(&how, have ? BY_MEMBARRIER : BY_LIGHT_SIDES, memory_order_release); /* E */
    return have;
}

bool pawl_uses_membarrier(void)
{
    return atomic_load_explicit(&how, memory_order_relaxed) == BY_MEMBARRIER;
}

bool pawl_gave_up_membarrier(void)
{
    return atomic_load_explicit(&cost.over, memory_order_relaxed) != 0;
}

/* Light sides that do not fence yet may be under way, and the kernel refuses to help. One that runs makes its store
 * visible before the grace period is over; one that has lost its CPU has passed a fence, and loads later. Only then may
 * others rely on the light sides' fences. */
static void fence_late(void)
{
    uint32_t start = pawl_ticks();
    pawl_parked_fence(true);
    pawl_nap(GRACE_NS);
    while (pawl_ticks() - start <= PAWL_TICKS(GRACE_NS)) /* a sandbox may refuse to let it sleep */
        pawl_pause();
    atomic_store_explicit(&how, BY_LIGHT_SIDES, memory_order_release); /* E */
}

/* The same with a last membarrier: after it, the stores of those that do not fence yet are visible. */
static void fence_from_now_on(void)
{
    pawl_parked_fence(true);
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        atomic_store_explicit(&how, BY_LIGHT_SIDES, memory_order_release); /* E */
    else
        fence_late();
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
    uint32_t start = pawl_ticks();
    if (now == BY_MEMBARRIER && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) { /* D, if they do not */
        if (PAWL_UNLIKELY(is_too_dear(start, pawl_ticks())))
            fence_from_now_on();
        return;
    }
    /* Before the constructor below, or in a child of fork(). */
    if (now == UNDECIDED && !is_wanted()) {
        fence_late();
        return;
    }
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return;
    fence_late(); /* the process has entered a sandbox, say */
}

/* The fork may have come while another thread made the light sides fence, and that thread is not here to finish. No light
 * side is under way that does not fence yet, so there is nothing to wait for. */
void pawl_fork_fence(void)
{
    if (atomic_load_explicit(&how, memory_order_relaxed) == BY_LIGHT_SIDES)
        return;
    if (pawl_parked_is_fenced()) {
        pawl_parked_fence(true);
        atomic_store_explicit(&how, BY_LIGHT_SIDES, memory_order_relaxed);
    } else if (atomic_load_explicit(&cost.over, memory_order_relaxed) != 0) {
        atomic_store_explicit(&cost.over, 0, memory_order_relaxed); /* it had not begun */
    }
}

__attribute__((constructor(101))) static void ask_kernel(void)
{
    pawl_use_membarrier(is_wanted());
}
