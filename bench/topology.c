/* topology.c - loads the machine's topology, reduced to the CPUs that this process may use */
#include "topology_hwloc.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t loaded;

static void load(void)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return;
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    if (hwloc_topology_load(t) == 0 && usable != NULL) {
        if (hwloc_get_cpubind(t, usable, HWLOC_CPUBIND_PROCESS) == 0)
            /* Only the CPUs that taskset left. Nobody can run on a node that lost all of its own. */
            hwloc_topology_restrict(t, usable, HWLOC_RESTRICT_FLAG_REMOVE_CPULESS);
        loaded = t;
    }
    hwloc_bitmap_free(usable);
}

hwloc_topology_t bench_topology(void)
{
    pthread_once(&once, load);
    return loaded;
}
