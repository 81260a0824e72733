/* pinning.c - which CPUs the policies choose, on machines of several shapes, and that threads really run there */
#include "harness.h"

#include "bench/loops.h"
#include "bench/team.h"
#include "bench/topology_hwloc.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum { MOST = 64 };

/* Two packages, each a node with four cores of two CPUs: 0 to 7, and 8 to 15. */
static void on_a_large_machine(void)
{
    setenv("HWLOC_SYNTHETIC", "pack:2 numa:1 core:4 pu:2", 1);
    hwloc_topology_t t = bench_topology();
    CHECK(t != NULL && hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) == 16, "hwloc did not take the machine");
}

/* Two nodes of one CPU, which are those of this machine. */
static void on_two_nodes(void)
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity: %s", strerror(errno));
    if (!CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
        skip("takes CPUs 0 and 1");
    setenv("HWLOC_SYNTHETIC", "numa:2 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
}

/* The CPUs of a thread, as bits. */
static unsigned long chosen(bench_pin pin, unsigned index, unsigned threads)
{
    static const unsigned cpus[] = {3, 12};
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int error = bench_pin_choose(&pin, index, threads, cpus, set);
    CHECK(error == 0, "thread %u of %u: %s", index, threads, strerror(error));
    unsigned long bits = hwloc_bitmap_to_ulong(set);
    hwloc_bitmap_free(set);
    return bits;
}

static void compact_fills_core_after_core(const lock_info *lock)
{
    (void)lock;
    on_a_large_machine();
    for (unsigned i = 0; i < 40; i++) {
        unsigned long set = chosen((bench_pin){.policy = BENCH_COMPACT}, i, 40);
        CHECK(set == 1ul << i % 16, "thread %u: %lx", i, set);
    }
}

/* How many of the groups of `size` CPUs have one of the first `threads` threads. */
static unsigned groups_with(unsigned threads, unsigned size)
{
    unsigned long groups = 0;
    for (unsigned i = 0; i < threads; i++) {
        unsigned long set = chosen((bench_pin){.policy = BENCH_SCATTER}, i, threads);
        CHECK(set != 0 && (set & (set - 1)) == 0, "thread %u: %lx is not one CPU", i, set);
        groups |= 1ul << (unsigned)__builtin_ctzl(set) / size;
    }
    return (unsigned)__builtin_popcountl(groups);
}

static void scatter_uses_packages_then_cores_then_cpus(const lock_info *lock)
{
    (void)lock;
    on_a_large_machine();
    CHECK(groups_with(2, 8) == 2, "two threads on one package");
    CHECK(groups_with(8, 2) == 8, "eight threads on less than eight cores");
    CHECK(groups_with(16, 1) == 16 && groups_with(40, 1) == 16, "not all CPUs have a thread");
}

static void nodes_are_taken_in_turn_or_one_for_all(const lock_info *lock)
{
    (void)lock;
    on_a_large_machine();
    for (unsigned i = 0; i < 5; i++) {
        CHECK(chosen((bench_pin){.policy = BENCH_NUMA}, i, 5) == (i % 2 == 0 ? 0xff : 0xff00), "thread %u",
              i);
        CHECK(chosen((bench_pin){.policy = BENCH_NODE, .node = 1}, i, 5) == 0xff00, "thread %u", i);
    }
    CHECK(chosen((bench_pin){.policy = BENCH_CPUS}, 0, 2) == 1ul << 3, "the first CPU given");
    CHECK(chosen((bench_pin){.policy = BENCH_CPUS}, 1, 2) == 1ul << 12, "the second CPU given");
}

static void what_is_not_there_is_an_error(const lock_info *lock)
{
    (void)lock;
    on_a_large_machine();
    const unsigned cpus[] = {16, 17};
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int error = bench_pin_choose(&(bench_pin){.policy = BENCH_NODE, .node = 7}, 0, 2, NULL, set);
    CHECK(error == ENODEV, "node 7 of 2: %d", error);
    error = bench_pin_choose(&(bench_pin){.policy = BENCH_CPUS}, 0, 2, cpus, set);
    CHECK(error == ENODEV, "CPU 16 of 16: %d", error);
    hwloc_bitmap_free(set);
}

/* What a thread that was measured found. */
static struct {
    cpu_set_t allowed;
    int cpu;
} found[MOST];

static void look(bench_worker *w)
{
    CHECK(sched_getaffinity(0, sizeof found[0].allowed, &found[w->index].allowed) == 0,
          "sched_getaffinity: %s", strerror(errno));
    do { /* once at least: it may first run when the measurement is over */
        found[w->index].cpu = sched_getcpu();
        CHECK(CPU_ISSET(found[w->index].cpu, &found[w->index].allowed), "thread %u runs on CPU %d", w->index,
              found[w->index].cpu);
    } while (bench_phase_now(w->shared) != BENCH_STOP);
}

static bench_duty look_of(const bench_request *q, unsigned index)
{
    (void)q, (void)index;
    return look;
}

static void run_pinned(bench_pin pin, unsigned threads)
{
    bench_request q = {.threads = threads, .pin = pin, .duration_ns = 2000000, .warm_up_ns = 1000000};
    bench_team *t = bench_team_new(&q);
    bench_run run;
    CHECK(t != NULL, "no memory");
    int error = bench_team_run(t, &q, look_of, &run);
    CHECK(error == 0, "%s", strerror(error));
}

/* Of the threads of a run, on the machine that it runs on. */
static void threads_run_where_they_should(const lock_info *lock)
{
    (void)lock;
    static const bench_pin pins[] = {{.policy = BENCH_FREE},
                                     {.policy = BENCH_COMPACT},
                                     {.policy = BENCH_SCATTER},
                                     {.policy = BENCH_NUMA},
                                     {.policy = BENCH_NODE}};
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    for (size_t p = 0; p < sizeof pins / sizeof pins[0]; p++)
        for (unsigned threads = 1; threads <= 5; threads++) {
            run_pinned(pins[p], threads);
            for (unsigned i = 0; i < threads; i++) {
                bench_pin_choose(&pins[p], i, threads, NULL, set);
                CHECK(hwloc_bitmap_weight(set) == CPU_COUNT(&found[i].allowed), "policy %zu, thread %u", p,
                      i);
                for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                    CHECK(hwloc_bitmap_isset(set, (unsigned)cpu) == !!CPU_ISSET(cpu, &found[i].allowed),
                          "policy %zu, thread %u, CPU %d", p, i, cpu);
            }
        }
    hwloc_bitmap_free(set);
}

static void threads_run_on_their_nodes(const lock_info *lock)
{
    (void)lock;
    on_two_nodes();
    run_pinned((bench_pin){.policy = BENCH_NUMA}, 3);
    for (int i = 0; i < 3; i++)
        CHECK(found[i].cpu == i % 2, "thread %d ran on CPU %d", i, found[i].cpu);
    run_pinned((bench_pin){.policy = BENCH_NODE, .node = 1}, 2);
    for (int i = 0; i < 2; i++)
        CHECK(found[i].cpu == 1 && CPU_COUNT(&found[i].allowed) == 1, "thread %d is not on node 1", i);
}

/* As under taskset: nobody is sent to a node that has no CPU for this process. */
static void nodes_without_cpus_are_none(const lock_info *lock)
{
    (void)lock;
    on_two_nodes();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(1, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity: %s", strerror(errno));
    int nodes = hwloc_get_nbobjs_by_type(bench_topology(), HWLOC_OBJ_NUMANODE);
    CHECK(nodes == 1, "%d nodes", nodes);
    run_pinned((bench_pin){.policy = BENCH_NUMA}, 2);
    CHECK(found[0].cpu == 1 && found[1].cpu == 1, "somebody ran elsewhere");
}

static const promise promises[] = {
    {"compact_fills_core_after_core", compact_fills_core_after_core, NULL, "pin"},
    {"scatter_uses_packages_then_cores_then_cpus", scatter_uses_packages_then_cores_then_cpus, NULL, "pin"},
    {"nodes_are_taken_in_turn_or_one_for_all", nodes_are_taken_in_turn_or_one_for_all, NULL, "pin"},
    {"what_is_not_there_is_an_error", what_is_not_there_is_an_error, NULL, "pin"},
    {"threads_run_where_they_should", threads_run_where_they_should, NULL, "pin"},
    {"threads_run_on_their_nodes", threads_run_on_their_nodes, NULL, "pin"},
    {"nodes_without_cpus_are_none", nodes_without_cpus_are_none, NULL, "pin"},
};

HARNESS_MAIN(promises)
