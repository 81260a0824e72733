/* topology_hwloc.h - the same for those who ask hwloc themselves */
#pragma once

#include <hwloc.h>

/* Loaded once for the process; NULL if it cannot be. */
hwloc_topology_t bench_topology(void);
