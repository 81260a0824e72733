/* topology.h - the machine as hwloc sees it, reduced to the CPUs that this process may use */
#pragma once

#include <hwloc.h>

/* Loaded once for the process; NULL if it cannot be. */
hwloc_topology_t bench_topology(void);
