/* mutexbench.c - `pawl bench mutexbench`: the benchmark of all four papers */
#include "bench.h"

const workload mutexbench = {
    .name = "mutexbench",
    .doc = "Measure how often threads that do nothing else can take one lock, how evenly they get it, and "
           "how long they "
           "wait for it.\vLIST is comma-separated. A step is one of a pseudo-random generator. The one that "
           "the lock "
           "protects is replayed afterwards: a lock that let two threads in at once is reported, and the "
           "exit status is 1.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_LOAD | TAKES_PIN,
    .unit = "acquisitions/s",
    .higher_is_better = true,
    .harness = true,
    .subjects = native_subjects,
    .plan = plan_locks_and_threads,
    .parameters = load_parameters,
    .describe = load_describe,
};

int mutexbench_main(int argc, char **argv)
{
    return workload_main(&mutexbench, argc, argv);
}
