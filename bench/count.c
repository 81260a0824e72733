/* count.c - what hwloc says of the machine */
#include "topology.h"
#include "topology_hwloc.h"

#include <stdio.h>

static unsigned count_of(hwloc_obj_type_t type)
{
    hwloc_topology_t t = bench_topology();
    int count = t != NULL ? hwloc_get_nbobjs_by_type(t, type) : 0;
    return count > 0 ? (unsigned)count : 0;
}

unsigned bench_count(bench_part part)
{
    static const hwloc_obj_type_t types[BENCH_PARTS] = {[BENCH_PACKAGES] = HWLOC_OBJ_PACKAGE,
                                                        [BENCH_CORES] = HWLOC_OBJ_CORE,
                                                        [BENCH_NODES] = HWLOC_OBJ_NUMANODE,
                                                        [BENCH_PUS] = HWLOC_OBJ_PU};
    return count_of(types[part]);
}

unsigned bench_cpu_at(unsigned place)
{
    return hwloc_get_obj_by_type(bench_topology(), HWLOC_OBJ_PU, place)->os_index;
}

bool bench_has_cpu(unsigned cpu)
{
    hwloc_topology_t t = bench_topology();
    return t != NULL && hwloc_get_pu_obj_by_os_index(t, cpu) != NULL;
}

void bench_caches(char *text, size_t size)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *name;
    } caches[] = {{HWLOC_OBJ_L1CACHE, "L1d"}, {HWLOC_OBJ_L2CACHE, "L2"}, {HWLOC_OBJ_L3CACHE, "L3"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof caches / sizeof caches[0] && used < size; i++) {
        unsigned count = count_of(caches[i].type);
        if (count == 0)
            continue;
        hwloc_obj_t cache = hwloc_get_obj_by_type(bench_topology(), caches[i].type, 0);
        used += (size_t)snprintf(text + used, size - used, "%s %u %s %.0f KiB", used == 0 ? ";" : ",", count,
                                 caches[i].name, (double)cache->attr->cache.size / 1024);
    }
}
