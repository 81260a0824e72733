/* tail.c - the distribution of the waits: every acquisition is timed */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

static bench_duty record_of(const bench_request *q, unsigned index)
{
    (void)index;
    const bench_lock *lock = bench_lock_of(q);
    return bench_has_times(&q->load) ? lock->record_timed : lock->record;
}

static bench_waits quantiles(const histogram *h, double ns_per_tick)
{
    return (bench_waits){.p50 = (double)histogram_quantile(h, 0.5) * ns_per_tick,
                         .p90 = (double)histogram_quantile(h, 0.9) * ns_per_tick,
                         .p99 = (double)histogram_quantile(h, 0.99) * ns_per_tick,
                         .p999 = (double)histogram_quantile(h, 0.999) * ns_per_tick,
                         .p9999 = (double)histogram_quantile(h, 0.9999) * ns_per_tick,
                         .max = (double)h->most * ns_per_tick};
}

bench_waits bench_waits_of(histogram *h, const bench_team *t)
{
    if (h->total == 0)
        histogram_add(h, (uint64_t)(t->ns / t->ns_per_tick));
    return quantiles(h, t->ns_per_tick);
}

static int run_recorded(bench_team *t, const bench_request *q, histogram *all, bench_run *run,
                        bench_waits *waits)
{
    for (unsigned i = 0; i < q->threads; i++)
        if ((t->workers[i].waits = bench_sector_alloc(sizeof *all)) == NULL)
            return ENOMEM;
    int error = bench_run_on_lock(t, q, record_of, run);
    for (unsigned i = 0; i < q->threads && error == 0; i++) {
        waits[i] = bench_waits_of(t->workers[i].waits, t);
        histogram_merge(all, t->workers[i].waits);
    }
    return error;
}

void bench_tail(const bench_request *q, bench_run *run, bench_waits **waits)
{
    bench_team *t = bench_team_new(q);
    histogram *all = bench_sector_alloc(sizeof *all);
    *waits = calloc(q->threads, sizeof **waits);
    run->error = t && all && *waits ? run_recorded(t, q, all, run, *waits) : ENOMEM;
    if (run->error != 0)
        return;
    run->waits = quantiles(all, t->ns_per_tick);
    run->waits_of_threads = q->threads;
}
