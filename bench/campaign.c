/* campaign.c - interleaves the runs of all points and takes medians */
#include "campaign.h"

#include <errno.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static bench_point point_at(const bench_campaign *c, size_t i)
{
    return (bench_point){.lock = c->locks[i % c->lock_count],
                         .threads = c->threads[i / c->lock_count],
                         .load = c->load,
                         .duration_ns = c->duration_ns};
}

/* `runs` lie `stride` apart; `scratch` has room for one value of each. */
static bench_result summarise(const bench_point *p, const bench_run *runs, size_t count, size_t stride,
                              double *scratch)
{
    bench_result r = {.lock = p->lock, .threads = p->threads, .runs = (unsigned)count};
    for (size_t i = 0; i < count; i++) {
        const bench_run *run = &runs[i * stride];
        scratch[i] = run->fairness;
        r.worst_wait_ns = run->worst_wait_ns > r.worst_wait_ns ? run->worst_wait_ns : r.worst_wait_ns;
    }
    r.fairness = bench_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = runs[i * stride].cpu_seconds;
    r.cpu_seconds = bench_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = runs[i * stride].throughput;
    r.throughput = bench_median(scratch, count);
    r.throughput_min = scratch[0];
    r.throughput_max = scratch[count - 1];
    return r;
}

static int run_all(const bench_campaign *c, bench_run *runs, size_t points, bench_point *at)
{
    for (size_t i = 0; i < points * c->runs; i++) {
        *at = point_at(c, i % points);
        if (c->progress != NULL)
            c->progress(at, i, points * c->runs);
        int error = bench_run_point(at, &runs[i]);
        if (error != 0)
            return error;
    }
    return 0;
}

int bench_campaign_run(const bench_campaign *c, bench_result *results, bench_point *at)
{
    size_t points = c->lock_count * c->thread_counts;
    bench_run *runs = calloc(points * c->runs, sizeof *runs);
    double *scratch = calloc(c->runs, sizeof *scratch);
    int error = runs && scratch ? run_all(c, runs, points, at) : ENOMEM;
    for (size_t i = 0; i < points && error == 0; i++) {
        bench_point p = point_at(c, i);
        results[i] = summarise(&p, &runs[i], c->runs, points, scratch);
    }
    free(runs);
    free(scratch);
    return error;
}
