/* machine.c - what the kernel and the compiler say about themselves */
#include "machine.h"
#include "commit.h"
#include "surroundings.h"
#include "topology.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

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

/* musl has neither a macro nor a function that says so; this is a macro of its <stddef.h> and others. */
static void name_libc(char *name, size_t size)
{
#ifdef __GLIBC__
    snprintf(name, size, "glibc %s", gnu_get_libc_version());
#elif defined __DEFINED_size_t
    snprintf(name, size, "musl");
#else
    snprintf(name, size, "unknown");
#endif
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

/* "2 packages, 36 cores, 72 CPUs, 2 NUMA nodes; 36 L1d 32 KiB, 36 L2 256 KiB, 2 L3 46080 KiB", as far as it is known */
static void describe(machine *m)
{
    const struct {
        unsigned count;
        const char *name;
    } parts[] = {{m->sockets, "package"}, {m->cores, "core"}, {m->cpus, "CPU"}, {m->numa_nodes, "NUMA node"}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].count > 0)
            used +=
                (size_t)snprintf(m->topology + used, sizeof m->topology - used, "%s%u %s%s",
                                 used > 0 ? ", " : "", parts[i].count, parts[i].name, plural(parts[i].count));
    bench_caches(m->topology + used, sizeof m->topology - used);
}

machine machine_here(void)
{
    machine m = {.cpus = usable_cpus(),
                 .sockets = bench_count(BENCH_PACKAGES),
                 .cores = bench_count(BENCH_CORES),
                 .numa_nodes = bench_count(BENCH_NODES),
                 .commit = BENCH_COMMIT,
                 .no_counters = bench_counters_missing()};
    describe(&m);
    name_libc(m.libc, sizeof m.libc);
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
