/* machine.c - what the kernel and the compiler say about themselves */
#include "machine.h"

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

machine machine_here(void)
{
    machine m = {.cpus = usable_cpus()};
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
