/* this.c - the machine `this`: its topology from hwloc, and its times measured in a second or so
 *
 * Each number is the best of a few tries: other programs can only make things slower.
 */
#include "machine.h"

#include "../bench/generator.h"
#include "../bench/mersenne.h"
#include "../lab/machine.h"

#include <hwloc.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- of one CPU */

enum { TIMES = 20000, TRIES = 9 };

static void adds(void)
{
    uint64_t x = 0;
    for (int i = 0; i < TIMES; i++)
        __asm__ volatile("add $1, %0" : "+r"(x));
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

static void syscalls(void)
{
    for (int i = 0; i < TIMES / 20; i++)
        lab_raw_syscall(SYS_getppid, (const long[6]){0});
}

static void membarriers(void)
{
    for (int i = 0; i < TIMES / 200; i++)
        lab_raw_syscall(SYS_membarrier, (const long[6]){MEMBARRIER_CMD_PRIVATE_EXPEDITED});
}

static sim_time best_of(void run(void), int times)
{
    double best = 1e18;
    for (int i = 0; i < TRIES; i++) {
        double from = now_ns();
        run();
        double took = (now_ns() - from) / times;
        best = took < best ? took : best;
    }
    return (sim_time)(best * 1000) + 1;
}

/* ---- between two */

typedef enum game { LINES, FUTEXES, BUSY } game;

static _Alignas(256) _Atomic uint32_t ball;
static _Atomic uint32_t over;
static int players[2];
static game played;

/* The best of short bursts: in a long one, other programs take a CPU away. */
enum { ROUNDS = 40000, BURST = 64, FUTEX_ROUNDS = 400, FUTEX_BURST = 8 };

static void sit_down(int player)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(players[player], &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* One player's part of a game: waits for its turn, and gives it to the other. Returns what the best burst took per turn,
 * in nanoseconds. */
static double play(uint32_t player)
{
    bool sleeps = played == FUTEXES;
    uint32_t rounds = sleeps ? FUTEX_ROUNDS : ROUNDS, burst = sleeps ? FUTEX_BURST : BURST;
    double best = 1e18, from = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t turn = 2 * i + player, seen;
        while ((seen = atomic_load_explicit(&ball, memory_order_acquire)) != turn)
            if (sleeps)
                lab_raw_syscall(SYS_futex, (const long[6]){(long)&ball, FUTEX_WAIT_PRIVATE, seen});
        if (i % burst == 0) {
            double now = now_ns(), took = (now - from) / (2 * burst);
            best = i > 0 && took < best ? took : best;
            from = now;
        }
        atomic_store_explicit(&ball, turn + 1, memory_order_release);
        if (sleeps)
            lab_raw_syscall(SYS_futex, (const long[6]){(long)&ball, FUTEX_WAKE_PRIVATE, 1});
    }
    return best;
}

static void *other_player(void *unused)
{
    (void)unused;
    sit_down(1);
    if (played == BUSY)
        while (atomic_load_explicit(&over, memory_order_relaxed) == 0)
            ;
    else
        play(1);
    return NULL;
}

/* Nanoseconds from one player to the other; negative if there is no second thread. */
static double one_way(game g, int first, int second)
{
    pthread_t other;
    played = g;
    players[0] = first;
    players[1] = second;
    atomic_store(&ball, 0);
    sit_down(0);
    if (pthread_create(&other, NULL, other_player, NULL) != 0)
        return -1;
    double took = play(0);
    pthread_join(other, NULL);
    return took;
}

/* What a membarrier takes while another CPU is busy. */
static sim_time busy_membarrier(int first, int second)
{
    pthread_t other;
    played = BUSY;
    players[0] = first;
    players[1] = second;
    atomic_store(&over, 0);
    sit_down(0);
    if (pthread_create(&other, NULL, other_player, NULL) != 0)
        return 0;
    sim_time took = best_of(membarriers, TIMES / 200);
    atomic_store(&over, 1);
    pthread_join(other, NULL);
    return took;
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

/* In this model a ball takes 1.6 latencies, and the time of about four loads that hit. */
static const double crossing = 1.6;

static void measure_lines(sim_machine *m, hwloc_topology_t t)
{
    unsigned core = m->cpus_per_core, cluster = core * m->cores_per_cluster,
             socket = cluster * m->clusters_per_socket;
    const unsigned partners[SIM_DISTANCES] = {1, core, cluster, socket};
    for (int d = 0; d < SIM_DISTANCES; d++) {
        bool there = partners[d] < sim_machine_cpus(m) &&
                     (d == 0 || partners[d] > partners[d - 1] || partners[d] == 1);
        double ns = there ? one_way(LINES, os_index(t, 0), os_index(t, partners[d])) : -1;
        sim_time before = d > 0 ? m->read[d - 1] : m->hit;
        sim_time latency = ns > 0 ? (sim_time)((ns * 1000 - 4 * (double)m->hit) / crossing) : before;
        m->read[d] = m->write[d] = m->upgrade[d] = latency > before ? latency : before;
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
    m->syscall = best_of(syscalls, TIMES / 20);
    m->futex_wait = 400000;
    m->futex_wake = 500000;
    m->switching =
        less(one_way(FUTEXES, first, first), 2 * m->syscall + m->futex_wait + m->futex_wake, 200000);
    m->wake = less(one_way(FUTEXES, first, second), m->syscall + m->futex_wake + m->switching, 500000);
    lab_raw_syscall(SYS_membarrier, (const long[6]){MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED});
    m->membarrier = best_of(membarriers, TIMES / 200);
    m->delivery = 60000;
    m->interrupt = less((double)busy_membarrier(first, second) / 1000, m->membarrier + m->delivery, 300000);
    m->migration = m->switching;
    m->slice = (sim_time)3000000000;
    m->granularity = (sim_time)1000000000;
}

const char *sim_source_this(const char *key)
{
    static const char *const assumed[] = {
        "protocol",   "hit",        "smt",       "stores", "invalidation", "occupancy", "memory",
        "futex-wait", "futex-wake", "migration", "slice",  "granularity",  "delivery",  "line"};
    static const char *const units[] = {"cpu", "core", "cluster", "socket"};
    for (size_t i = 0; i < sizeof assumed / sizeof assumed[0]; i++)
        if (strcmp(key, assumed[i]) == 0)
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
    *m = (sim_machine){
        .name = "this", .title = "this machine", .protocol = SIM_MOESI, .line = 64, .smt = 1.4, .stores = 56};
    take_topology(m, t);
    m->cycle = best_of(adds, TIMES);
    m->hit = 4 * m->cycle;
    m->atomic = best_of(atomics, TIMES);
    m->fence = best_of(fences, TIMES);
    m->pause = best_of(pauses, TIMES);
    m->clock = best_of(clocks, TIMES);
    m->step = best_of(steps, TIMES);
    m->mersenne = best_of(mersenne_steps, TIMES);
    measure_lines(m, t);
    m->invalidation = 2000;
    m->occupancy = 4000;
    m->memory = m->read[SIM_OTHER_SOCKET] > 90000 ? m->read[SIM_OTHER_SOCKET] : 90000;
    measure_kernel(m, t);
    sched_setaffinity(0, sizeof before, &before);
    hwloc_topology_destroy(t);
    return sim_machine_cpus(m) <= SIM_MOST_CPUS;
}
