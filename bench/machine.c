/* machine.c - what the kernel and the compiler say about themselves */
#include "machine.h"
#include "commit.h"
#include "surroundings.h"
#include "topology.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static unsigned usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than cpu_set_t has bits */
    return online > 0 ? (unsigned)online : 1;
}

/* False where /proc/cpuinfo does not name the processor, as on AArch64. */
static bool model_from_cpuinfo(char *model, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL)
        return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(model, size, "%s", value);
        found = true;
    }
    fclose(f);
    return found;
}

static unsigned count_of(hwloc_topology_t t, hwloc_obj_type_t type)
{
    int count = t != NULL ? hwloc_get_nbobjs_by_type(t, type) : 0;
    return count > 0 ? (unsigned)count : 1;
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

/* "2 packages, 36 cores, 72 CPUs, 2 NUMA nodes; L1d 32 KiB, L2 256 KiB, L3 45 MiB" */
static void describe(machine *m, hwloc_topology_t t)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *name;
    } caches[] = {{HWLOC_OBJ_L1CACHE, "L1d"}, {HWLOC_OBJ_L2CACHE, "L2"}, {HWLOC_OBJ_L3CACHE, "L3"}};
    size_t room = sizeof m->topology;
    int used = snprintf(m->topology, room, "%u package%s, %u core%s, %u CPU%s, %u NUMA node%s", m->sockets,
                        plural(m->sockets), m->cores, plural(m->cores), m->cpus, plural(m->cpus),
                        m->numa_nodes, plural(m->numa_nodes));
    for (size_t i = 0; t != NULL && i < sizeof caches / sizeof caches[0]; i++) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(t, caches[i].type, 0);
        if (cache == NULL || used < 0 || (size_t)used >= room)
            continue;
        used += snprintf(m->topology + used, room - (size_t)used, "%s %u %s %.0f KiB", i == 0 ? ";" : ",",
                         count_of(t, caches[i].type), caches[i].name, (double)cache->attr->cache.size / 1024);
    }
}

machine machine_here(void)
{
    hwloc_topology_t t = bench_topology();
    machine m = {.cpus = usable_cpus(),
                 .sockets = count_of(t, HWLOC_OBJ_PACKAGE),
                 .cores = count_of(t, HWLOC_OBJ_CORE),
                 .numa_nodes = count_of(t, HWLOC_OBJ_NUMANODE),
                 .commit = BENCH_COMMIT,
                 .no_counters = bench_counters_missing()};
    describe(&m, t);
    snprintf(m.libc, sizeof m.libc, "glibc %s", gnu_get_libc_version());
    struct utsname u;
    if (uname(&u) != 0)
        memset(&u, 0, sizeof u);
    if (!model_from_cpuinfo(m.model, sizeof m.model))
        snprintf(m.model, sizeof m.model, "%s", u.machine);
    snprintf(m.kernel, sizeof m.kernel, "%.32s %.90s", u.sysname, u.release);
#ifdef __clang__
    snprintf(m.compiler, sizeof m.compiler, "clang %s", __clang_version__);
#else
    snprintf(m.compiler, sizeof m.compiler, "gcc %s", __VERSION__);
#endif
    return m;
}
