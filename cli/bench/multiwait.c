/* multiwait.c - `pawl bench multiwait`: Hemlock, section 5.6 and figure 9 */
#include "bench.h"

static void plan(study *s)
{
    s->base.load.cs = 0; /* nothing inside, as in the paper */
    plan_locks_and_threads(s);
}

static void parameters(const bench_request *q, json_t *to)
{
    (void)q;
    json_object_set_new(to, "locks", json_integer(BENCH_LOCKS));
}

static const workload multiwait = {
    .name = "multiwait",
    .doc = "Measure how often one thread can take ten locks in order and release them again, while the "
           "others take one of "
           "the ten at random (Hemlock, section 5.6).\vLIST is comma-separated.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_PIN,
    .unit = "rounds/s",
    .higher_is_better = true,
    .harness = true,
    .subjects = native_subjects,
    .plan = plan,
    .parameters = parameters,
};

int multiwait_main(int argc, char **argv)
{
    return workload_main(&multiwait, argc, argv);
}
