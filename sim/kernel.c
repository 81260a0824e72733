/* kernel.c - the system calls that locks make, in virtual time
 *
 * The kernel's table of futexes is memory, too: every call takes the line of its bucket, so calls for one futex queue up
 * as they do in the kernel. A membarrier is an interrupt on every CPU that runs a thread of the process; the kernel lets
 * one process do one at a time.
 */
#include "sim.h"
#include "watch.h"

#include "../lab/machine.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 256, APART = 256, SECOND = 1000000000 };

static char buckets[BUCKETS][APART] __attribute__((aligned(APART))); /* only their addresses count */
static sim_thread *sleepers[BUCKETS];

void sim_kernel_boot(void)
{
    watch_region(buckets, sizeof buckets, SIM_KERNEL);
}

static long fail(int error)
{
    errno = error;
    return -1;
}

static unsigned bucket_of(uintptr_t address)
{
    return (unsigned)(address / 4 * 0x9e3779b97f4a7c15u >> 56);
}

/* ---- time */

static sim_time now_ns(void)
{
    return SECOND + (lab_current != NULL ? sim_self()->clock : sim_now()) / SIM_NS;
}

/* A thread that only computes and looks at the clock may get ahead of the others, but not by much. */
static void catch_up(sim_thread *t)
{
    if (t->clock > sim_now() + 2000 * SIM_NS)
        sim_sync(t);
}

uint64_t sim_ticks(void)
{
    if (lab_current == NULL)
        return sim_now() / SIM_TICK;
    sim_thread *t = sim_self();
    sim_charge(t, sim_hardware.clock);
    catch_up(t);
    return t->clock / SIM_TICK;
}

void sim_pause(void)
{
    if (lab_current == NULL)
        return;
    sim_thread *t = sim_self();
    sim_charge(t, sim_hardware.pause);
    catch_up(t);
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (!sim_is_booted()) {
        long result = lab_raw_syscall(SYS_clock_gettime, (const long[6]){clock, (long)ts});
        return result < 0 ? (int)fail((int)-result) : 0;
    }
    if (lab_current != NULL)
        sim_ticks();
    sim_time ns = now_ns();
    *ts = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    return 0;
}

/* The virtual time at which a clock shows this. */
static sim_time moment(const struct timespec *ts)
{
    sim_time ns = (sim_time)ts->tv_sec * SECOND + (sim_time)ts->tv_nsec;
    return ns > SECOND ? (ns - SECOND) * SIM_NS : 0;
}

static sim_time span(const struct timespec *ts)
{
    return ((sim_time)ts->tv_sec * SECOND + (sim_time)ts->tv_nsec) * SIM_NS;
}

/* ---- sleeping */

static void enter_kernel(sim_thread *t)
{
    t->look_count = 0;
    sim_charge(t, sim_hardware.syscall);
    sim_sync(t);
    sim_store_drain(t);
}

static void remove_sleeper(sim_thread *t)
{
    for (sim_thread **at = &sleepers[bucket_of(t->futex)]; *at != NULL; at = &(*at)->futex_next)
        if (*at == t) {
            *at = t->futex_next;
            return;
        }
}

static void add_sleeper(sim_thread *t, uintptr_t address)
{
    sim_thread **end = &sleepers[bucket_of(address)];
    while (*end != NULL)
        end = &(*end)->futex_next;
    *end = t;
    t->futex = address;
    t->futex_next = NULL;
}

static void time_out(void *of, unsigned generation)
{
    sim_thread *t = of;
    if (t->state != SIM_BLOCKED || generation != t->resumption)
        return;
    if (t->futex != 0)
        remove_sleeper(t);
    t->futex = 0;
    t->timed_out = true;
    sim_wake(t, sim_now());
}

/* Until somebody wakes it, or that time comes. */
static void sleep_until(sim_thread *t, sim_time when)
{
    t->timed_out = false;
    t->resumption++; /* a timer of an earlier sleep is for nobody now */
    if (when != SIM_NEVER)
        sim_at(when > t->clock ? when : t->clock, time_out, t, t->resumption);
    sim_block(t);
}

static long futex_wait(sim_thread *t, uintptr_t address, uint32_t expected, sim_time until, uint32_t bits)
{
    sim_touch(t, (uintptr_t)buckets[bucket_of(address)]);
    sim_sync(t);
    if ((uint32_t)sim_read(address, 4) != expected)
        return fail(EAGAIN);
    sim_charge(t, sim_hardware.futex_wait);
    t->futex_bits = bits;
    add_sleeper(t, address);
    sleep_until(t, until);
    return t->timed_out ? fail(ETIMEDOUT) : 0;
}

/* Wakes up to `limit` sleepers, or moves them to another futex. */
static int futex_wake(sim_thread *t, uintptr_t address, int limit, uint32_t bits, uintptr_t move_to)
{
    int found = 0;
    sim_touch(t, (uintptr_t)buckets[bucket_of(address)]);
    sim_sync(t);
    for (sim_thread *s = sleepers[bucket_of(address)], *next; s != NULL && found < limit; s = next) {
        next = s->futex_next;
        if (s->futex != address || (s->futex_bits & bits) == 0)
            continue;
        found++;
        remove_sleeper(s);
        s->futex = 0;
        if (move_to != 0) {
            add_sleeper(s, move_to);
        } else {
            sim_charge(t, sim_hardware.futex_wake);
            sim_wake(s, t->clock);
        }
    }
    return found;
}

static long futex(const long *a)
{
    sim_thread *t = sim_self();
    uintptr_t address = (uintptr_t)a[0];
    const struct timespec *timeout = (const struct timespec *)a[3];
    enter_kernel(t);
    switch ((int)a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return futex_wait(t, address, (uint32_t)a[2], timeout != NULL ? t->clock + span(timeout) : SIM_NEVER,
                          FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return futex_wait(t, address, (uint32_t)a[2], timeout != NULL ? moment(timeout) : SIM_NEVER,
                          (uint32_t)a[5]);
    case FUTEX_WAKE:
        return futex_wake(t, address, (int)a[2], FUTEX_BITSET_MATCH_ANY, 0);
    case FUTEX_WAKE_BITSET:
        return futex_wake(t, address, (int)a[2], (uint32_t)a[5], 0);
    case FUTEX_CMP_REQUEUE:
        if ((uint32_t)sim_read(address, 4) != (uint32_t)a[5])
            return fail(EAGAIN);
        /* fallthrough */
    case FUTEX_REQUEUE: {
        int woken = futex_wake(t, address, (int)a[2], FUTEX_BITSET_MATCH_ANY, 0);
        return woken + futex_wake(t, address, (int)a[3], FUTEX_BITSET_MATCH_ANY, (uintptr_t)a[4]);
    }
    }
    return fail(ENOSYS);
}

/* ---- membarrier */

/* Stores that were buffered when the interrupt came have to be visible. */
static void await_stores(sim_thread *t, unsigned cpus)
{
    uint64_t goal[SIM_MOST_CPUS];
    for (unsigned i = 0; i < cpus; i++)
        goal[i] = sim_cpus[i].stores.entered;
    for (unsigned i = 0; i < cpus; i++)
        while (sim_cpus[i].stores.left < goal[i]) {
            sim_resume_at(t, t->clock + 20 * SIM_NS);
            sim_wait();
        }
}

static long membarrier(int command)
{
    static sim_time free_at; /* the kernel does one at a time */
    const sim_machine *m = &sim_hardware;
    unsigned cpus = sim_machine_cpus(m), interrupted = 0;
    sim_thread *t = sim_self();
    switch (command) {
    case MEMBARRIER_CMD_QUERY:
        return MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
        return 0;
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
        break;
    default:
        return fail(EINVAL);
    }
    enter_kernel(t);
    for (unsigned i = 0; i < cpus; i++) {
        sim_thread *other = sim_cpus[i].current;
        if (other == NULL || other == t || other->fiber == NULL)
            continue;
        other->debt += m->interrupt;
        interrupted++;
    }
    sim_time start = free_at > t->clock ? free_at : t->clock;
    free_at = start + m->membarrier + interrupted * m->delivery + (interrupted > 0 ? m->interrupt : 0);
    await_stores(t, cpus);
    sim_time wait = free_at > t->clock ? free_at - t->clock : 0;
    sim_compute(t, wait);
    sim_sync(t);
    return 0;
}

/* ---- the C library's names */

static long nap(const struct timespec *ts)
{
    sim_thread *t = sim_self();
    enter_kernel(t);
    sleep_until(t, t->clock + span(ts));
    return 0;
}

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (lab_current != NULL) {
        switch (number) {
        case SYS_futex:
            return futex(a);
        case SYS_membarrier:
            return membarrier((int)a[0]);
        case SYS_gettid:
            return lab_current->id + 1;
        case SYS_nanosleep:
            return nap((const struct timespec *)a[0]);
        }
    }
    long result = lab_raw_syscall(number, a);
    return result < 0 && result > -4096 ? fail((int)-result) : result;
}

int sched_yield(void)
{
    if (lab_current == NULL) {
        lab_raw_syscall(SYS_sched_yield, (const long[6]){0});
        return 0;
    }
    sim_thread *t = sim_self();
    enter_kernel(t);
    sim_yield(t);
    return 0;
}

/* On a fiber it sleeps; on the host, which has no part in the simulation, time passes for the others. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *ts, struct timespec *left)
{
    (void)clock, (void)left;
    if (lab_current == NULL) {
        sim_run(moment(ts), NULL, NULL);
        return 0;
    }
    sim_thread *t = sim_self();
    enter_kernel(t);
    sleep_until(t, flags == TIMER_ABSTIME ? moment(ts) : t->clock + span(ts));
    return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    CPU_ZERO_S(size, set);
    if (lab_current == NULL)
        return lab_raw_syscall(SYS_sched_getaffinity, (const long[6]){pid, (long)size, (long)set}) < 0 ? -1
                                                                                                       : 0;
    const sim_thread *t = sim_self();
    bool own = pid == 0; /* the main thread, which is none of those simulated, may run everywhere */
    for (unsigned i = own ? t->first : 0; i < (own ? t->end : sim_machine_cpus(&sim_hardware)); i++)
        CPU_SET_S(i, size, set);
    return 0;
}
