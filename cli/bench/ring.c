/* ring.c - `pawl bench ring`: Hemlock, section 5.5 */
#include "bench.h"

#include "bench/workload.h"

#include "cli/parse.h"

#include <string.h>

enum { BY = 0x400 };

static const struct argp_option options[] = {
    {"by", BY, "LIST", 0, "Ways to wait: load, cas, swap, faa (default: all)", 0},
    {0},
};

static void variant_item(const char *item, void *input)
{
    study *s = input;
    for (unsigned v = 0; bench_ring_variants[v] != NULL; v++)
        if (strcmp(item, bench_ring_variants[v]) == 0) {
            s->variants |= 1u << v;
            return;
        }
    fail("--by '%s': must be load, cas, swap or faa", item);
}

static bool take(study *s, int key, char *argument)
{
    if (key != BY)
        return false;
    s->variants = 0;
    parse_list("--by", argument, variant_item, s);
    return true;
}

static void plan(study *s)
{
    static const subject token = {.name = "ring", .waiting = BENCH_SPINS};
    for (size_t t = 0; t < s->thread_counts; t++)
        for (unsigned v = 0; bench_ring_variants[v] != NULL; v++) {
            if (s->variants != 0 && (s->variants & 1u << v) == 0)
                continue;
            point *p = add_point(s, &token, s->threads[t]);
            p->variant = bench_ring_variants[v];
            p->request.variant = v;
        }
}

static const workload ring = {
    .name = "ring",
    .doc =
        "Measure how often threads in a ring can pass a token, if they wait for it by loads, or by atomic "
        "operations, "
        "which take the cache line for themselves at once (Hemlock, section 5.5).\vLIST is comma-separated.",
    .takes = TAKES_THREADS | TAKES_PIN,
    .unit = "hand-overs/s",
    .higher_is_better = true,
    .options = options,
    .take = take,
    .plan = plan,
};

int ring_main(int argc, char **argv)
{
    return workload_main(&ring, argc, argv);
}
