/* here.c - bench/machine.h and bench/topology_hwloc.h for the machine that was chosen */
#include "answer.h"

#include "../bench/machine.h"
#include "../bench/topology_hwloc.h"
#include "commit.h"

#include <stdio.h>

/* As hwloc sees it: pinning goes by this. */
hwloc_topology_t bench_topology(void)
{
    static hwloc_topology_t topology;
    const sim_machine *m = &sim_chosen;
    char text[128];
    if (topology != NULL)
        return topology;
    snprintf(text, sizeof text, "pack:%u numa:1 l3:%u core:%u pu:%u", m->sockets, m->clusters_per_socket,
             m->cores_per_cluster, m->cpus_per_core);
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_set_synthetic(topology, text) != 0 ||
        hwloc_topology_load(topology) != 0)
        topology = NULL;
    return topology;
}

machine machine_here(void)
{
    const sim_machine *m = &sim_chosen;
    machine here = {.cpus = sim_machine_cpus(m),
                    .sockets = m->sockets,
                    .cores = sim_machine_cores(m),
                    .numa_nodes = m->sockets,
                    .kernel = "simulated kernel",
                    .libc = "simulated",
                    .commit = BENCH_COMMIT,
                    .simulated = true,
                    .no_counters = "the machine is simulated; its cache misses are below"};
    snprintf(here.model, sizeof here.model, "%.80s (simulated: %.31s)", m->title, m->name);
    snprintf(here.topology, sizeof here.topology, "%u packages, %u cores, %u CPUs, %s", m->sockets,
             here.cores, here.cpus, sim_protocol_names[m->protocol]);
#ifdef __clang__
    snprintf(here.compiler, sizeof here.compiler, "clang %s", __clang_version__);
#else
    snprintf(here.compiler, sizeof here.compiler, "gcc %s", __VERSION__);
#endif
    return here;
}
