/* schedule.c - who is admitted after whom: the papers' claims on order, for any lock */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

/* The timed loop keeps the log, and its sections are steps if no times are given. */
static bench_duty timed_of(const bench_request *q, unsigned index)
{
    (void)index;
    return bench_lock_of(q)->work_timed;
}

void bench_schedule_run(const bench_request *q, bench_run *run, bench_waits **waits)
{
    bench_team *t = bench_team_new(q);
    *waits = calloc(q->threads, sizeof **waits);
    if (t == NULL || *waits == NULL || (t->shared->log = bench_sector_alloc(sizeof(bench_log))) == NULL) {
        run->error = ENOMEM;
        return;
    }
    run->error = bench_run_on_lock(t, q, timed_of, run);
    if (run->error == 0)
        run->error = bench_schedule_of(t->shared->log, q->threads, &run->schedule, *waits);
    run->waits_of_threads = q->threads;
}
