/* bench.c - `pawl bench`: a choice of workloads */
#include "bench.h"

#include "bench/workload.h"

#include <string.h>

/* A workload is a file and a line here. */
static const command workloads[] = {
    {"mutexbench", "Threads that do nothing but take one lock", mutexbench_main},
    {"tail", "How long they wait for it: the distribution", tail_main},
    {"schedule", "Who gets it after whom: period, palindromes, bypass, gaps", schedule_main},
    {"occasional", "How long one thread waits that wants it now and then", occasional_main},
    {"condvar", "Producers and consumers at a queue with few places", condvar_main},
    {"grid", "Many of these at once: where a mutex is ahead, and where behind", grid_main},
    {"multiwait", "One thread takes ten locks, the others one of them at random", multiwait_main},
    {"atomic-struct", "Threads that change a structure of 20 bytes atomically", atomic_struct_main},
    {"leveldb", "Threads that read a LevelDB database", leveldb_main},
    {"ring", "Threads pass a token, and wait for it in different ways", ring_main},
    {"pingpong", "One cache line between two CPUs", pingpong_main},
    {NULL, NULL, NULL},
};

static const command_set bench = {
    .kind = "workload",
    .usage = "WORKLOAD [OPTION...]",
    .doc = "Measure locks.",
    .commands = workloads,
};

const setting bench_setting = {.runs = 7, .most_threads = 4096, .duration_ns = 250000000};

int bench_main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], BENCH_ANSWER) == 0)
        return bench_answer(NULL, bench_runner_of);
    return dispatch(&bench, argc, argv);
}
