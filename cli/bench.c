/* bench.c - `pawl bench`: a choice of workloads */
#include "cli.h"
#include "mutexbench.h"

/* A workload is a file and a line here. */
static const command workloads[] = {
    {"mutexbench", "Threads that do nothing but take one lock", mutexbench_main},
    {NULL, NULL, NULL},
};

static const command_set bench = {
    .kind = "workload",
    .usage = "WORKLOAD [OPTION...]",
    .doc = "Measure locks.",
    .commands = workloads,
};

int bench_main(int argc, char **argv)
{
    return dispatch(&bench, argc, argv);
}
