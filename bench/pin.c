/* pin.c - pinning through hwloc: its order of CPUs knows caches, packages and nodes */
#include "pin.h"
#include "topology_hwloc.h"

#include <errno.h>

static int of_object(hwloc_obj_t object, hwloc_cpuset_t set)
{
    if (object == NULL)
        return ENODEV;
    return hwloc_bitmap_copy(set, object->cpuset) == 0 ? 0 : ENOMEM;
}

/* One after the other, and round again. */
static int in_turn(hwloc_topology_t t, hwloc_obj_type_t type, unsigned index, hwloc_cpuset_t set)
{
    int count = hwloc_get_nbobjs_by_type(t, type);
    return of_object(count > 0 ? hwloc_get_obj_by_type(t, type, index % (unsigned)count) : NULL, set);
}

/* As many threads as fit are distributed; the others go round again. */
static int scattered(hwloc_topology_t t, unsigned index, unsigned threads, hwloc_cpuset_t set)
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
    int error = hwloc_bitmap_copy(set, sets[index % n]) == 0 ? 0 : ENOMEM;
    for (unsigned i = 0; i < n; i++)
        hwloc_bitmap_free(sets[i]);
    return error;
}

int bench_pin_choose(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus,
                     hwloc_cpuset_t set)
{
    hwloc_topology_t t = bench_topology();
    if (t == NULL)
        return ENODEV;
    switch (pin->policy) {
    case BENCH_FREE:
        return of_object(hwloc_get_root_obj(t), set);
    case BENCH_COMPACT:
        return in_turn(t, HWLOC_OBJ_PU, index, set);
    case BENCH_SCATTER:
        return scattered(t, index, threads, set);
    case BENCH_NUMA:
        return in_turn(t, HWLOC_OBJ_NUMANODE, index, set);
    case BENCH_NODE:
        return of_object(hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, pin->node), set);
    case BENCH_CPUS:
        return of_object(hwloc_get_pu_obj_by_os_index(t, cpus[index]), set);
    }
    return EINVAL;
}

bool bench_pin_works(bench_pin_policy policy)
{
    (void)policy;
    return true;
}

int bench_pin_self(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus)
{
    if (pin->policy == BENCH_FREE)
        return 0;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int error = set != NULL ? bench_pin_choose(pin, index, threads, cpus, set) : ENOMEM;
    if (error == 0 && hwloc_set_cpubind(bench_topology(), set, HWLOC_CPUBIND_THREAD) != 0)
        error = errno;
    hwloc_bitmap_free(set);
    return error;
}
