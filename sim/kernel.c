/* kernel.c - the system calls that locks make, in virtual time
 *
 * A membarrier is an interrupt on every CPU that runs a thread of the process; the kernel lets
 * one process do one at a time.
 */
#include "sim.h"
#include "kernel.h"
#include "trace.h"

#include "../lab/machine.h"
#include "../src/hardware.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

long kernel_fail(int error)
{
    errno = error;
    return -1;
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

/* Called at each look in a waiting loop; the processor can't wait for a line. */
unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    (void)w, (void)seen;
    sim_thread *t = sim_self();
    sim_charge(t, sim_hardware.look);
    catch_up(t);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (!sim_is_booted()) {
        long result = lab_raw_syscall(SYS_clock_gettime, (const long[6]){clock, (long)ts});
        return result < 0 ? (int)kernel_fail((int)-result) : 0;
    }
    if (lab_current != NULL)
        sim_ticks();
    sim_time ns = now_ns();
    *ts = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
    return 0;
}

/* The virtual time at which a clock shows this. */
sim_time kernel_moment(const struct timespec *ts)
{
    sim_time ns = (sim_time)ts->tv_sec * SECOND + (sim_time)ts->tv_nsec;
    return ns > SECOND ? (ns - SECOND) * SIM_NS : 0;
}

sim_time kernel_span(const struct timespec *ts)
{
    return ((sim_time)ts->tv_sec * SECOND + (sim_time)ts->tv_nsec) * SIM_NS;
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
        return kernel_fail(EINVAL);
    }
    kernel_calls[PAWL_MEMBARRIERS]++;
    kernel_enter(t);
    for (unsigned i = 0; i < cpus; i++) {
        sim_thread *other = sim_cpus[i].current;
        if (other == NULL || other == t || other->fiber == NULL)
            continue;
        other->debt += m->interrupt;
        interrupted++;
    }
    sim_time start = free_at > t->clock ? free_at : t->clock;
    free_at =
        start + m->membarrier + interrupted * m->delivery + (interrupted > 0 ? m->ipi + m->interrupt : 0);
    await_stores(t, cpus);
    sim_time from = t->clock, wait = free_at > t->clock ? free_at - t->clock : 0;
    sim_compute(t, wait);
    sim_sync(t);
    trace_thread(t, "membarrier", SIM_OBJECTS, from, t->clock);
    return 0;
}

/* ---- the C library's names */

static long nap(const struct timespec *ts)
{
    sim_thread *t = sim_self();
    kernel_enter(t);
    kernel_sleep(t, t->clock + kernel_span(ts));
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
            return kernel_futex(a);
        case SYS_membarrier:
            return membarrier((int)a[0]);
        case SYS_gettid:
            return lab_current->id + 1;
        case SYS_nanosleep:
            return nap((const struct timespec *)a[0]);
        }
    }
    long result = lab_raw_syscall(number, a);
    return result < 0 && result > -4096 ? kernel_fail((int)-result) : result;
}

int sched_yield(void)
{
    if (lab_current == NULL) {
        lab_raw_syscall(SYS_sched_yield, (const long[6]){0});
        return 0;
    }
    sim_thread *t = sim_self();
    kernel_enter(t);
    sim_yield(t);
    return 0;
}

int sched_getcpu(void)
{
    if (lab_current == NULL) {
        unsigned cpu = 0;
        lab_raw_syscall(SYS_getcpu, (const long[6]){(long)&cpu});
        return (int)cpu;
    }
    return (int)(sim_self()->cpu - sim_cpus);
}

/* On a fiber it sleeps; on the host, which has no part in the simulation, time passes for the others. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *ts, struct timespec *left)
{
    (void)clock, (void)left;
    if (lab_current == NULL) {
        sim_run(kernel_moment(ts), NULL, NULL);
        return 0;
    }
    sim_thread *t = sim_self();
    kernel_enter(t);
    kernel_sleep(t, flags == TIMER_ABSTIME ? kernel_moment(ts) : t->clock + kernel_span(ts));
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
