/* pingpong.c - `pawl bench pingpong`: what a hand-over is compared with */
#include "bench.h"

#include "bench/topology.h"

#include "cli/parse.h"

enum { CPUS = 0x400, MOST_CPU = 65535, MOST_PAIRS = 64 };

static const struct argp_option options[] = {
    {"cpus", CPUS, "A,B", 0, "The two CPUs (default: the first and every other one, at most 64 pairs)", 0},
    {0},
};

static void cpu_item(const char *item, void *input)
{
    study *s = input;
    unsigned cpu = (unsigned)parse_number("--cpus", item, 0, MOST_CPU);
    if (!bench_has_cpu(cpu))
        fail("--cpus '%s': no such CPU, or none that this process may use", item);
    s->threads = append_number(s->threads, &s->thread_counts, cpu);
}

static bool take(study *s, int key, char *argument)
{
    if (key != CPUS)
        return false;
    s->thread_counts = 0;
    parse_list("--cpus", argument, cpu_item, s);
    if (s->thread_counts != 2)
        fail("--cpus '%s': must be two different CPUs, such as 0,1", argument);
    return true;
}

static void add_pair(study *s, unsigned a, unsigned b)
{
    static const subject line = {.name = "line", .waiting = BENCH_SPINS};
    char *variant;
    if (asprintf(&variant, "CPU %u to %u", a, b) < 0)
        fail("out of memory");
    point *p = add_point(s, &line, 2);
    p->variant = variant;
    p->request.cpus[0] = a;
    p->request.cpus[1] = b;
}

static void plan(study *s)
{
    s->base.pin.policy = BENCH_CPUS;
    if (s->thread_counts == 2) {
        add_pair(s, s->threads[0], s->threads[1]);
        return;
    }
    unsigned cpus = bench_count(BENCH_PUS);
    if (cpus < 2)
        fail("pingpong: takes two CPUs, and this process may use one");
    for (unsigned i = 1; i < cpus && i <= MOST_PAIRS; i++)
        add_pair(s, bench_cpu_at(0), bench_cpu_at(i));
}

const workload pingpong = {
    .name = "pingpong",
    .doc = "Measure how long a cache line takes from one CPU to another: no lock can be handed over faster.",
    .takes = 0,
    .unit = "ns",
    .higher_is_better = false,
    .options = options,
    .take = take,
    .plan = plan,
};

int pingpong_main(int argc, char **argv)
{
    return workload_main(&pingpong, argc, argv);
}
