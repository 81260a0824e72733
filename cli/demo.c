/* demo.c - `pawl demo`: every lock on this machine, in less than a minute */
#include "cli.h"
#include "grid.h"
#include "mutexbench.h"
#include "names.h"
#include "parse.h"

#include "common/table.h"

#include <stdlib.h>

/* For the register and glibc's mutex about 25 seconds, of which the throughput takes the most. */
enum { RUNS = 3, RUN_NS = 150000000, ROUNDS = 7, PAIRS = 200000 };

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
static double *time_pairs(void)
{
    double *samples = allocate(bench_lock_count * ROUNDS, sizeof *samples);
    double *medians = allocate(bench_lock_count, sizeof *medians);
    for (size_t round = 0; round < ROUNDS; round++) {
        progress_show("%3zu %%  uncontended", 100 * round / ROUNDS);
        for (size_t i = 0; i < bench_lock_count; i++)
            if (bench_run_pairs(&bench_locks[i], PAIRS, &samples[i * ROUNDS + round]) != 0)
                fail("%s: cannot create a thread", bench_locks[i].name);
    }
    for (size_t i = 0; i < bench_lock_count; i++)
        medians[i] = bench_median(&samples[i * ROUNDS], ROUNDS);
    progress_clear();
    free(samples);
    return medians;
}

static bench_result *time_contended(const unsigned *threads, bench_doubts *doubts)
{
    const bench_lock **locks = allocate(bench_lock_count, sizeof *locks);
    for (size_t i = 0; i < bench_lock_count; i++)
        locks[i] = &bench_locks[i];
    bench_campaign c = {.locks = locks,
                        .lock_count = bench_lock_count,
                        .threads = threads,
                        .thread_counts = 1,
                        .load = {.cs = 1},
                        .duration_ns = RUN_NS,
                        .runs = RUNS};
    bench_result *results = measure(&c);
    bench_doubt_load(doubts, &c, *threads, results);
    free(locks);
    return results;
}

static void add_row(grid *g, const bench_result *r, double ns_per_pair)
{
    const lock_info *info = lock_find(r->lock->name); /* NULL for mutexes, which have no entry */
    grid_add(g, "%s", r->lock->name);
    grid_add(g, "%zu", r->lock->size);
    grid_add(g, "%.1f", ns_per_pair);
    grid_add(g, "%.2f", r->throughput / 1e6);
    grid_add(g, "%.2f", r->fairness);
    grid_add(g, "%s", order_name(info != NULL ? info->order : PAWL_NONE));
}

static void print(output *o, const machine *m, const double *pairs, const bench_result *results)
{
    static const char *const heads[] = {"lock", "bytes", "ns/pair", "M/s", "fairness", "order"};
    fprintf(o->file, "%u CPU%s, %s, %s, %s, wait %s\n\n", m->cpus, m->cpus == 1 ? "" : "s", m->model,
            m->kernel, m->compiler, policy_name(pawl_get_wait()));
    grid g = grid_new("lrrrrl");
    for (size_t i = 0; i < g.columns; i++)
        grid_add(&g, "%s", heads[i]);
    for (size_t i = 0; i < bench_lock_count; i++)
        add_row(&g, &results[i], pairs[i]);
    grid_print(&g, o->file);
    grid_free(&g);
    fprintf(o->file,
            "\nns/pair: an uncontended lock and unlock. M/s: million acquisitions per second by %u thread%s "
            "that do"
            "\nnothing else. fairness: fewest acquisitions of a thread over most. order: who enters next.\n",
            results[0].threads, results[0].threads == 1 ? "" : "s");
}

int demo_main(int argc, char **argv)
{
    request r = {0};
    parse_options(&argp, argc, argv, 0, &r);
    check_environment();
    output_check(r.output);
    machine here = machine_here();
    double *pairs = time_pairs();
    bench_doubts doubts = {0};
    bench_result *results = time_contended(&here.cpus, &doubts);
    output o;
    output_open(&o, r.output);
    print(&o, &here, pairs, results);
    output_close(&o);
    warn_of(&doubts, 0);
    free(pairs);
    free(results);
    return EXIT_SUCCESS;
}
