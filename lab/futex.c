/* futex.c - the system calls that locks make, simulated on fibers
 *
 * Defining `syscall` is enough: locks reach futex, membarrier and gettid through it. Everything else, and all calls
 * made outside a fiber, goes to the kernel.
 *
 * futex      Compare and sleep is one step, as under the kernel's bucket lock. The compare reads the newest store, as
 *            a seq_cst load; being woken orders nothing. Which sleeper a wake-up finds is a choice. A wait may return
 *            although nobody woke it (0 or EINTR) as long as the budget of spurious events lasts, and time out if it
 *            was given a timeout; with nothing else left to happen, time passes for free.
 * membarrier PRIVATE_EXPEDITED is a seq_cst fence on every thread where it stands: the caller's, all others', and
 *            the caller's again.
 * nanosleep  As membarrier, and time passes.
 * time       Each thread has its own clock, which advances when it is read and when a wait times out.
 */
#define _GNU_SOURCE
#include "machine.h"
#include "shadow.h"
#include "trace.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

enum { E_WAIT = 200, E_RETURN, E_WAKE, E_MEMBARRIER, E_PICK, TICK = 1000 };
enum { EVERYBODY = -1 };

#define PC __builtin_return_address(0)

static long fail(int error)
{
    errno = error;
    return -1;
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

/* Scheduled without having been woken: why? */
static long return_early(struct lab_thread *t)
{
    enum { TIMEOUT, SPURIOUS, INTERRUPTED } reasons[3];
    unsigned n = 0;
    bool spurious = lab_run.left.spurious > 0;
    if (t->timed && (lab_run.left.timeouts > 0 || !spurious))
        reasons[n++] = TIMEOUT;
    if (spurious) {
        reasons[n++] = SPURIOUS;
        reasons[n++] = INTERRUPTED;
    }
    unsigned reason = reasons[lab_choose(LAB_CHOOSE_RETURN, n)];
    lab_graph_add(t, E_RETURN, t->futex, reason);
    if (reason == TIMEOUT) {
        lab_run.left.timeouts -= lab_run.left.timeouts > 0;
        t->timeouts++;
        if (t->now < t->deadline)
            t->now = t->deadline;
        lab_trace_note("times out", t->futex, 0, NULL);
        return fail(ETIMEDOUT);
    }
    lab_run.left.spurious--;
    lab_trace_note(reason == SPURIOUS ? "wakes for no reason" : "is interrupted", t->futex, 0, NULL);
    return reason == SPURIOUS ? 0 : fail(EINTR);
}

static uint64_t nanoseconds(const struct timespec *ts)
{
    return (uint64_t)ts->tv_sec * 1000000000 + (uint64_t)ts->tv_nsec;
}

static long wait(uintptr_t address, uint32_t expected, const struct timespec *timeout, bool absolute, uint32_t bits,
                 const void *pc)
{
    struct lab_thread *t = lab_running();
    uint32_t value = (uint32_t)lab_load_newest(address, 4, pc);
    if (value != expected) {
        lab_trace_note("futex: value differs", address, value, pc);
        return fail(EAGAIN);
    }
    lab_trace_note("futex: sleeps", address, value, pc);
    lab_graph_add(t, E_WAIT, address, 0);
    t->futex = address;
    t->futex_bits = bits;
    t->timed = timeout != NULL;
    if (timeout)
        t->deadline = nanoseconds(timeout) + (absolute ? 0 : t->now);
    for (int i = 0; i < lab_run.threads; i++)
        t->seen[i] = lab_threads[i].timeouts;
    t->woken = false;
    t->state = LAB_PARKED;
    t->asleep_at = pc;
    lab_monitor_waits(t);
    lab_sched_away();
    t->state = LAB_READY;
    return t->woken ? 0 : return_early(t);
}

/* ---- waking --------------------------------------------------------------------------------------------------- */

static unsigned sleepers(uintptr_t address, uint32_t bits, struct lab_thread **list)
{
    unsigned n = 0;
    for (int i = 0; i < lab_run.threads; i++) {
        struct lab_thread *t = &lab_threads[i];
        if (t->state == LAB_PARKED && !t->woken && t->futex == address && (t->futex_bits & bits))
            list[n++] = t;
    }
    return n;
}

/* Wakes up to `limit` sleepers, or moves them to another futex. Whom it finds is part of the graph: that orders it
 * against the waits. */
static int wake(uintptr_t address, int limit, uint32_t bits, uintptr_t move_to, const void *pc)
{
    struct lab_thread *t = lab_running(), *list[LAB_SLOTS];
    uint64_t found = 0;
    int woken = 0;
    unsigned n;
    while (woken < limit && (n = sleepers(address, bits, list)) > 0) {
        struct lab_thread *s = list[lab_choose(LAB_CHOOSE_WAITER, (unsigned)limit - (unsigned)woken >= n ? 1 : n)];
        found |= UINT64_C(1) << s->id;
        woken++;
        if (move_to) {
            s->futex = move_to;
        } else {
            s->woken = true;
            s->state = LAB_READY;
        }
    }
    lab_graph_add(t, E_WAKE, address, lab_mix(found, move_to));
    lab_trace_note(move_to ? "futex: requeues" : "futex: wakes", address, (uint64_t)woken, pc);
    return woken;
}

static long futex(const long *a, const void *pc)
{
    uintptr_t address = (uintptr_t)a[0];
    int op = (int)a[1] & FUTEX_CMD_MASK;
    uint32_t value = (uint32_t)a[2];
    const struct timespec *timeout = (const struct timespec *)a[3];
    lab_sched_point();
    lab_spin_clear(lab_running());
    switch (op) {
    case FUTEX_WAIT: return wait(address, value, timeout, false, FUTEX_BITSET_MATCH_ANY, pc);
    case FUTEX_WAIT_BITSET: return wait(address, value, timeout, true, (uint32_t)a[5], pc);
    case FUTEX_WAKE: return wake(address, (int)value, FUTEX_BITSET_MATCH_ANY, 0, pc);
    case FUTEX_WAKE_BITSET: return wake(address, (int)value, (uint32_t)a[5], 0, pc);
    case FUTEX_CMP_REQUEUE:
        if ((uint32_t)lab_load_newest(address, 4, pc) != (uint32_t)a[5])
            return fail(EAGAIN);
        /* fallthrough */
    case FUTEX_REQUEUE: {
        int woken = wake(address, (int)value, FUTEX_BITSET_MATCH_ANY, 0, pc);
        int moved = wake(address, (int)a[3], FUTEX_BITSET_MATCH_ANY, (uintptr_t)a[4], pc);
        return woken + moved;
    }
    default:
        lab_violation(LAB_UNSUPPORTED, "this futex operation is not modelled", address, pc, NULL);
        return fail(ENOSYS);
    }
}

/* ---- membarrier ----------------------------------------------------------------------------------------------- */

static void fence_everyone(struct lab_thread *t)
{
    lab_spin_clear(t);
    lab_sc_fence(t);
    for (int i = 0; i < lab_run.threads; i++)
        if (&lab_threads[i] != t) /* one that has ended was switched out since, which is a fence too */
            lab_sc_fence(&lab_threads[i]);
    lab_sc_fence(t);
}

static long membarrier(int command, const void *pc)
{
    if (lab_run.limits->membarrier_errno)
        return fail(lab_run.limits->membarrier_errno);
    switch (command) {
    case MEMBARRIER_CMD_QUERY:
        return MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED: return 0;
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED: break;
    default: return fail(EINVAL);
    }
    lab_sched_point();
    fence_everyone(lab_running());
    lab_trace_note("membarrier", 0, 0, pc);
    return 0;
}

/* ---- time ---------------------------------------------------------------------------------------------------- */

static int pass_time(const struct timespec *ts)
{
    lab_sched_point();
    lab_running()->now += nanoseconds(ts);
    return 0;
}

/* The system call is used only by the asymmetric fence: while a thread sleeps that long, all earlier stores of others
 * become visible, and threads that lose their CPU pass a fence. */
static long nap(const struct timespec *ts)
{
    pass_time(ts);
    fence_everyone(lab_running());
    return 0;
}

/* ---- other answers -------------------------------------------------------------------------------------------- */

/* Part of the graph: what a thread does next depends on it. */
unsigned lab_pick(unsigned count)
{
    if (!lab_checking())
        return 0;
    struct lab_thread *t = lab_running();
    unsigned pick = lab_choose(LAB_CHOOSE_RETURN, count);
    lab_graph_add(t, E_PICK, 0, pick);
    lab_trace_note("is answered", 0, pick, PC);
    return pick;
}

/* ---- the C library's names ------------------------------------------------------------------------------------ */

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (lab_checking()) {
        switch (number) {
        case SYS_futex: return futex(a, PC);
        case SYS_membarrier: return membarrier((int)a[0], PC);
        case SYS_gettid: return lab_current->id + 1;
        case SYS_nanosleep: return nap((const struct timespec *)a[0]);
        }
    }
    long result = lab_raw_syscall(number, a);
    return result < 0 && result > -4096 ? fail((int)-result) : result;
}

/* The simulated threads share a CPU. */
int sched_getcpu(void)
{
    unsigned cpu = 0;
    if (!lab_checking())
        lab_raw_syscall(SYS_getcpu, (const long[6]){(long)&cpu});
    return (int)cpu;
}

int sched_yield(void)
{
    if (lab_checking())
        lab_sched_point();
    else
        lab_raw_syscall(SYS_sched_yield, (const long[6]){0});
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (!lab_checking()) {
        long result = lab_raw_syscall(SYS_clock_gettime, (const long[6]){clock, (long)ts});
        return result < 0 ? (int)fail((int)-result) : 0;
    }
    struct lab_thread *t = lab_running();
    t->now += t->probing ? 1000000000 : TICK; /* let a loop that waits for a deadline see it */
    ts->tv_sec = (time_t)(t->now / 1000000000);
    ts->tv_nsec = (long)(t->now % 1000000000);
    return 0;
}

int nanosleep(const struct timespec *ts, struct timespec *left)
{
    if (lab_checking())
        return pass_time(ts);
    long result = lab_raw_syscall(SYS_nanosleep, (const long[6]){(long)ts, (long)left});
    return result < 0 ? (int)fail((int)-result) : 0;
}
