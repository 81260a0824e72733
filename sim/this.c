/* this.c - the machine `this`: its topology from hwloc, and its times measured in a second or so
 *
 * Each number is the best of a few tries: other programs can only make things slower.
 */
#include "calibrate.h"

#include "../bench/generator.h"
#include "../bench/mersenne.h"
#include "../lab/machine.h"

#include <hwloc.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- of one CPU */

enum { TIMES = 20000 };

static void adds(void)
{
    uint64_t x = 0;
    for (int i = 0; i < TIMES; i += 10) /* ten, so that the loop itself does not count */
        __asm__ volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
                         "add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0"
                         : "+r"(x));
}

/* As far as they hold others up: a processor has many of them under way at once, the model one after the other. */
static void hits(void)
{
    static uint64_t words[8];
    for (int i = 0; i < TIMES; i += 8)
        for (int k = 0; k < 8; k++)
            (void)*(volatile uint64_t *)&words[k];
}

static void atomics(void)
{
    static _Atomic uint64_t word;
    for (int i = 0; i < TIMES; i++)
        atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
}

static void fences(void)
{
    for (int i = 0; i < TIMES; i++)
        atomic_thread_fence(memory_order_seq_cst);
}

static void pauses(void)
{
    for (int i = 0; i < TIMES; i++)
        __builtin_ia32_pause();
}

static _Atomic uint64_t polled;

static void polls(void)
{
    for (int i = 0; i < TIMES && atomic_load_explicit(&polled, memory_order_acquire) == 0; i++)
        __builtin_ia32_pause();
}

/* As libpawl waits: it asks its policy at each look, and that asks the processor for something better than a pause. A pause
 * hides none of it. */
typedef struct waiter {
    unsigned looks, most, state;
} waiter;

static _Atomic int policy = 2, instruction = 1;

static __attribute__((noinline)) unsigned wait_for_line(void)
{
    return atomic_load_explicit(&instruction, memory_order_relaxed) == 1 ? 0 : 4;
}

static __attribute__((noinline)) bool looks_on(waiter *me)
{
    static _Atomic(void *) hint;
    if (atomic_load_explicit(&policy, memory_order_relaxed) != 2)
        return false;
    if (me->most == 0)
        me->most = TIMES + 1;
    bool may = atomic_load_explicit(&hint, memory_order_acquire) == NULL && me->looks < me->most;
    if (me->state != 0 || !may)
        return false;
    unsigned room = wait_for_line();
    me->looks += room > 0 ? me->most / room : 0;
    return true;
}

static void looks(void)
{
    waiter me = {0};
    while (me.looks < TIMES && atomic_load_explicit(&polled, memory_order_acquire) == 0) {
        __builtin_ia32_pause();
        if (++me.looks >= 32 && !looks_on(&me))
            return;
    }
}

static void clocks(void)
{
    for (int i = 0; i < TIMES; i++)
        __builtin_ia32_rdtsc();
}

static void steps(void)
{
    static volatile uint64_t sink;
    generator g = generator_from(1);
    generator_advance(&g, TIMES);
    sink = g.s0;
    (void)sink;
}

static void mersenne_steps(void)
{
    static mersenne m;
    if (m.next == 0)
        mersenne_seed(&m, 1);
    mersenne_advance(&m, TIMES);
}

static void yields(void)
{
    for (int i = 0; i < TIMES / 20; i++)
        lab_raw_syscall(SYS_sched_yield, (const long[6]){0});
}

static void syscalls(void)
{
    for (int i = 0; i < TIMES / 20; i++)
        lab_raw_syscall(SYS_getppid, (const long[6]){0});
}

/* ---- the machine */

static unsigned count_of(hwloc_topology_t t, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(t, type);
    return count > 0 ? (unsigned)count : 1;
}

static void take_topology(sim_machine *m, hwloc_topology_t t)
{
    unsigned cpus = count_of(t, HWLOC_OBJ_PU), cores = count_of(t, HWLOC_OBJ_CORE);
    m->sockets = count_of(t, HWLOC_OBJ_PACKAGE);
    unsigned clusters = count_of(t, HWLOC_OBJ_L3CACHE);
    clusters = clusters > m->sockets ? clusters : m->sockets;
    m->clusters_per_socket = clusters / m->sockets;
    m->cores_per_cluster = cores / clusters > 0 ? cores / clusters : 1;
    m->cpus_per_core = cpus / cores > 0 ? cpus / cores : 1;
}

static int os_index(hwloc_topology_t t, unsigned cpu)
{
    hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, cpu);
    return pu != NULL ? (int)pu->os_index : 0;
}

static sim_time at_least(double ns, sim_time least)
{
    sim_time time = ns > 0 ? (sim_time)(ns * 1000) : 0;
    return time > least ? time : least;
}

/* The nearest other CPU tells what protocol it is, and how far misses overlap. */
static void take_protocol(sim_machine *m, const sim_line_times *l)
{
    double hidden = l->write > 0 ? 1 - l->more / l->write : 0;
    m->protocol = l->read_moves ? SIM_MIGRATORY : SIM_MOESI;
    m->overlap = hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
}

static bool has_neighbour; /* with whom lines were measured */

static void measure_lines(sim_machine *m, hwloc_topology_t t)
{
    const unsigned units[SIM_DISTANCES] = {m->cpus_per_core, m->cores_per_cluster, m->clusters_per_socket,
                                           m->sockets};
    unsigned partner = 1;
    has_neighbour = false;
    m->read[0] = m->write[0] = m->upgrade[0] = m->hit;
    for (int d = 0; d < SIM_DISTANCES; partner *= units[d++]) {
        sim_line_times l = {0};
        int before = d > 0 ? d - 1 : 0;
        bool there =
            units[d] > 1 && sim_lines(os_index(t, 0), os_index(t, partner), (double)m->atomic / 1000, &l);
        m->read[d] = at_least(l.read, m->read[before]);
        m->write[d] = at_least(l.write, m->write[before]);
        m->upgrade[d] = at_least(l.upgrade, m->upgrade[before]);
        if (there && !has_neighbour && d > SIM_SAME_CORE) {
            take_protocol(m, &l);
            has_neighbour = true;
        }
    }
}

static sim_time less(double ns, sim_time known, sim_time least)
{
    sim_time all = ns > 0 ? (sim_time)(ns * 1000) : 0;
    return all > known + least ? all - known : least;
}

static void measure_kernel(sim_machine *m, hwloc_topology_t t)
{
    int first = os_index(t, 0),
        second = os_index(t, sim_machine_cpus(m) > 1 ? m->cpus_per_core % sim_machine_cpus(m) : 0);
    m->syscall = sim_best_of(syscalls, TIMES / 20);
    m->yield = less((double)sim_best_of(yields, TIMES / 20) / 1000, m->syscall, 0);
    m->switching = less(sim_yield_in_turn(first), m->syscall, 200000);
    m->futex_wait = m->futex_wake = less(sim_sleep_in_turn(first), 2 * m->syscall + m->switching, 400000) /
                                    2; /* the two, told apart by nothing */
    m->delivery = less(sim_wake_other(first, second), m->syscall + m->futex_wake, 60000);
    m->wake = less(sim_wake_in_turn(first, second), m->syscall + m->futex_wake + m->switching, 500000);
    m->stay = first != second ? sim_stay(first, second) : 0;
    m->slack = less(sim_timer_lateness(second), m->syscall + m->futex_wait + m->wake + m->switching, 0);
    m->pull = first != second ? less(sim_pull(first, second), 0, 0) : 0;
    double stolen, apart;
    sim_gaps(first, &stolen, &apart);
    m->stolen = less(stolen, 0, 0);
    m->stolen_every = less(apart, 0, 0);
    lab_raw_syscall(SYS_membarrier, (const long[6]){MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED});
    m->membarrier = sim_best_of(sim_membarriers, SIM_MEMBARRIERS);
    double busy = (double)sim_busy_membarrier(first, second) / 1000;
    sim_time left =
        less(busy, m->membarrier + m->delivery, 300000); /* in all, it takes what it takes the caller */
    m->interrupt = less(sim_interruption, 0, 300000);
    m->interrupt = m->interrupt < left ? m->interrupt : left;
    m->ipi = left - m->interrupt;
    m->migration = m->switching;
    unsigned doublings = 0;
    while (doublings < 3 && 2u << doublings <= sim_machine_cpus(m))
        doublings++;
    m->slice = (sim_time)700000000 * (1 + doublings);
    struct timespec tick = {0, 4000000};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick); /* it advances at each */
    m->tick = (sim_time)tick.tv_nsec * 1000;
    m->hot = (sim_time)500000000;
}

const char *sim_source_this(const char *key)
{
    static const char *const assumed[] = {"smt",    "stores",    "reach", "invalidation", "occupancy",
                                          "memory", "migration", "slice", "hot",          "line"};
    static const char *const between[] = {"protocol", "overlap", "read", "write", "upgrade"};
    static const char *const units[] = {"cpu", "core", "cluster", "socket"};
    for (size_t i = 0; i < sizeof assumed / sizeof assumed[0]; i++)
        if (strcmp(key, assumed[i]) == 0)
            return "assumed";
    for (size_t i = 0; i < sizeof between / sizeof between[0] && !has_neighbour; i++)
        if (strcmp(key, between[i]) == 0)
            return "assumed";
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(key, units[i]) == 0)
            return "hwloc";
    return "measured by pawl sim machines this";
}

bool sim_machine_this(sim_machine *m)
{
    hwloc_topology_t t;
    cpu_set_t before;
    if (hwloc_topology_init(&t) != 0 || hwloc_topology_load(t) != 0)
        return false;
    sched_getaffinity(0, sizeof before, &before);
    *m = (sim_machine){.name = "this",
                       .title = "this machine",
                       .protocol = SIM_MOESI,
                       .line = 64,
                       .smt = 1.4,
                       .stores = 56,
                       .reach = 100 * 1000};
    take_topology(m, t);
    m->cycle = sim_best_of(adds, TIMES);
    m->hit = sim_best_of(hits, TIMES);
    m->atomic = sim_best_of(atomics, TIMES);
    m->fence = sim_best_of(fences, TIMES);
    m->pause = sim_best_of(pauses, TIMES);
    sim_time poll = sim_best_of(polls, TIMES), look = sim_best_of(looks, TIMES);
    m->look = look > poll ? look - poll : 0;
    m->clock = sim_best_of(clocks, TIMES);
    m->step = sim_best_of(steps, TIMES);
    m->mersenne = sim_best_of(mersenne_steps, TIMES);
    measure_lines(m, t);
    const sim_time invalidation[SIM_DISTANCES] = {1000, 1000, 2000, 4000};
    memcpy(m->invalidation, invalidation, sizeof invalidation);
    m->occupancy = 4000;
    m->memory = m->read[SIM_OTHER_SOCKET] > 90000 ? m->read[SIM_OTHER_SOCKET] : 90000;
    measure_kernel(m, t);
    sim_machine_fill_in(m);
    sched_setaffinity(0, sizeof before, &before);
    hwloc_topology_destroy(t);
    return sim_machine_cpus(m) <= SIM_MOST_CPUS;
}
