/* occasional.c - `pawl bench occasional`: a thread that takes the lock now and then, beside others that always want it */
#include "bench.h"

#include "cli/parse.h"

enum { PERIOD = 0x400, LEAST_NS = 10000 };

static const uint64_t most_ns = 1000000000;

static const struct argp_option options[] = {
    {"period", PERIOD, "TIME", 0, "How often one thread wants the lock, such as 500us (default 1ms)", 0},
    {0},
};

static bool take(study *s, int key, char *argument)
{
    if (key != PERIOD)
        return false;
    s->base.period_ns = parse_time("--period", argument, LEAST_NS, most_ns);
    return true;
}

/* A thread whose period is longer than the run would seem to have waited all the time. */
static void plan(study *s)
{
    char room[TIME_ROOM];
    if (s->base.period_ns > s->base.duration_ns)
        fail("--period: %s is longer than a run", time_text(s->base.period_ns, room));
    plan_locks_and_threads(s);
}

static void parameters(const bench_request *q, json_t *to)
{
    load_parameters(q, to);
    json_object_set_new(to, "period_ns", json_integer((json_int_t)q->period_ns));
}

static void describe(const bench_request *q, FILE *to)
{
    char room[TIME_ROOM];
    fprintf(to, "one of them every %s, ", time_text(q->period_ns, room));
    load_describe(q, to);
}

const workload occasional = {
    .name = "occasional",
    .doc =
        "Measure how long a thread waits that takes the lock now and then and sleeps in between, while the "
        "other "
        "threads do nothing but take it. The waits are those of the one, and the acquisitions those of the "
        "others.\vLIST is comma-separated.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_LOAD | TAKES_PIN,
    .unit = "acquisitions/s",
    .higher_is_better = true,
    .least_threads = 2,
    .base = {.period_ns = 1000000},
    .options = options,
    .take = take,
    .subjects = native_subjects,
    .plan = plan,
    .parameters = parameters,
    .describe = describe,
};

int occasional_main(int argc, char **argv)
{
    return workload_main(&occasional, argc, argv);
}
