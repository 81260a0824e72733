/* workloads.c - the workloads that are measured by this program itself */
#include "workload.h"

#include <string.h>

static const struct {
    const char *name;
    bench_runner *run;
} runners[] = {
    {"mutexbench", bench_mutexbench}, {"multiwait", bench_multiwait},   {"tail", bench_tail},
    {"occasional", bench_occasional}, {"condvar", bench_condvar},       {"ring", bench_ring},
    {"pingpong", bench_pingpong},     {"schedule", bench_schedule_run},
};

bench_runner *bench_runner_of(const char *workload)
{
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; i++)
        if (strcmp(runners[i].name, workload) == 0)
            return runners[i].run;
    return NULL;
}
