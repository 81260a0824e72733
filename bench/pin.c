/* pin.c - pinning through hwloc: its order of CPUs knows caches, packages and nodes */
#include "pin.h"
#include "topology.h"

#include <errno.h>

static int bind_to(hwloc_topology_t t, hwloc_const_cpuset_t set)
{
    return hwloc_set_cpubind(t, set, HWLOC_CPUBIND_THREAD) == 0 ? 0 : errno;
}

static int bind_to_object(hwloc_topology_t t, hwloc_obj_type_t type, unsigned index)
{
    int count = hwloc_get_nbobjs_by_type(t, type);
    hwloc_obj_t object = count > 0 ? hwloc_get_obj_by_type(t, type, index % (unsigned)count) : NULL;
    return object != NULL ? bind_to(t, object->cpuset) : ENODEV;
}

/* The distribution of as many threads as fit; the others go round again. */
static int bind_scattered(hwloc_topology_t t, unsigned index, unsigned threads)
{
    int cpus = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    if (cpus <= 0)
        return ENODEV;
    unsigned n = threads < (unsigned)cpus ? threads : (unsigned)cpus;
    hwloc_cpuset_t sets[n];
    hwloc_obj_t root = hwloc_get_root_obj(t);
    if (hwloc_distrib(t, &root, 1, sets, n, INT_MAX, 0) != 0)
        return errno;
    hwloc_bitmap_singlify(sets[index % n]);
    int error = bind_to(t, sets[index % n]);
    for (unsigned i = 0; i < n; i++)
        hwloc_bitmap_free(sets[i]);
    return error;
}

static int bind_to_cpu(hwloc_topology_t t, unsigned cpu)
{
    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(t, cpu);
    return object != NULL ? bind_to(t, object->cpuset) : ENODEV;
}

int bench_pin_self(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus)
{
    hwloc_topology_t t = pin->policy == BENCH_FREE ? NULL : bench_topology();
    if (t == NULL)
        return pin->policy == BENCH_FREE ? 0 : ENODEV;
    switch (pin->policy) {
    case BENCH_FREE:
        return 0;
    case BENCH_COMPACT:
        return bind_to_object(t, HWLOC_OBJ_PU, index);
    case BENCH_SCATTER:
        return bind_scattered(t, index, threads);
    case BENCH_NUMA:
        return bind_to_object(t, HWLOC_OBJ_NUMANODE, index);
    case BENCH_NODE:
        return bind_to_object(t, HWLOC_OBJ_NUMANODE, pin->node);
    case BENCH_CPUS:
        return bind_to_cpu(t, cpus[index]);
    }
    return EINVAL;
}
