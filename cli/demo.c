/* demo.c - `pawl demo`: every lock on this machine, in less than a minute */
#include "cli.h"
#include "grid.h"
#include "names.h"
#include "parse.h"

#include "cli/bench/bench.h"

#include "bench/pairs.h"

#include "common/table.h"

#include <stdlib.h>

/* For the register and its peers about 25 seconds, of which the throughput takes the most. */
enum { RUNS = 3, RUN_NS = 100000000, ROUNDS = 7, PAIRS = 200000 };

typedef struct request {
    const char *output;
} request;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    if (key != 'o')
        return ARGP_ERR_UNKNOWN;
    ((request *)state->input)->output = argument;
    return 0;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .doc = "Measure every lock on this machine, in less than a minute.",
                                 .children = common_options};

/* Median nanoseconds of an uncontended pair, for each lock; the rounds are interleaved as all runs are. */
static double *time_pairs(const bench_lock *const *locks, size_t count)
{
    double *samples = allocate(count * ROUNDS, sizeof *samples);
    double *medians = allocate(count, sizeof *medians);
    for (size_t round = 0; round < ROUNDS; round++) {
        progress_show("%3zu %%  uncontended", 100 * round / ROUNDS);
        for (size_t i = 0; i < count; i++)
            if (bench_time_pairs(locks[i], PAIRS, &samples[i * ROUNDS + round]) != 0)
                fail("%s: cannot create a thread", locks[i]->name);
    }
    for (size_t i = 0; i < count; i++)
        medians[i] = quantile(&samples[i * ROUNDS], ROUNDS, 0.5);
    progress_clear();
    free(samples);
    return medians;
}

static void add_row(grid *g, const point *p, const bench_lock *lock, double ns_per_pair)
{
    const lock_info *info = lock_find(p->lock); /* NULL for mutexes, which have no entry */
    double fairness[RUNS];
    for (int r = 0; r < RUNS; r++)
        fairness[r] = p->samples[r].run.fairness;
    grid_add(g, "%s", p->lock);
    grid_add(g, "%zu", lock->size);
    grid_add(g, "%.1f", ns_per_pair);
    grid_add(g, "%.2f", p->median / 1e6);
    grid_add(g, "%.2f", quantile(fairness, RUNS, 0.5));
    grid_add(g, "%s", order_name(info != NULL ? info->order : PAWL_NONE));
}

static void print(output *o, const study *s, const bench_lock *const *locks, const double *pairs)
{
    static const char *const heads[] = {"lock", "bytes", "ns/pair", "M/s", "fairness", "order"};
    const machine *m = &s->machine;
    fprintf(o->file, "%u CPU%s, %s, %s, %s, wait %s\n\n", m->cpus, m->cpus == 1 ? "" : "s", m->model,
            m->kernel, m->compiler, policy_name(pawl_get_wait()));
    grid g = grid_new("lrrrrl");
    for (size_t i = 0; i < g.columns; i++)
        grid_add(&g, "%s", heads[i]);
    for (size_t i = 0; i < s->point_count; i++)
        add_row(&g, &s->points[i], locks[i], pairs[i]);
    grid_print(&g, o->file);
    grid_free(&g);
    fprintf(o->file,
            "\nns/pair: an uncontended lock and unlock. M/s: million acquisitions per second by %u thread%s "
            "that do"
            "\nnothing else. fairness: fewest acquisitions of a thread over most. order: who enters next.\n",
            m->cpus, m->cpus == 1 ? "" : "s");
}

int demo_main(int argc, char **argv)
{
    request r = {0};
    parse_options(&argp, argc, argv, 0, &r);
    check_environment();
    output_check(r.output);
    size_t count;
    const bench_lock *const *locks = bench_locks(&count);
    double *pairs = time_pairs(locks, count);
    study s = {.runs = RUNS};
    study_begin(&s, &mutexbench, RUN_NS);
    s.threads = append_number(s.threads, &s.thread_counts, s.machine.cpus);
    default_options(&s);
    study_measure(&s);
    output o;
    output_open(&o, r.output);
    print(&o, &s, locks, pairs);
    output_close(&o);
    free(pairs);
    study_end(&s);
    return EXIT_SUCCESS;
}
