/* occasional.c - one thread that takes the lock now and then, beside others that take it all the time
 *
 * The first thread sleeps for a period between two acquisitions, and each of its waits is recorded: how long a user
 * interface, a timer or a heartbeat waits for a lock that workers fight for.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

static bench_duty duty_of(const bench_request *q, unsigned index)
{
    return index == 0 ? bench_lock_of(q)->record_timed : bench_work_of(q, index);
}

void bench_occasional(const bench_request *q, bench_run *run, bench_waits **waits)
{
    bench_team *t = bench_team_new(q);
    histogram *h = bench_sector_alloc(sizeof *h);
    *waits = calloc(1, sizeof **waits);
    if (t == NULL || h == NULL || *waits == NULL) {
        run->error = ENOMEM;
        return;
    }
    bench_worker *rare = &t->workers[0];
    rare->load.period_ns = q->period_ns;
    rare->waits = h;
    run->error = bench_run_on_lock(t, q, duty_of, run);
    if (run->error != 0)
        return;
    bench_team_shares(t, 1, q->threads, run);
    run->waits = bench_waits_of(h, t);
    run->worst_wait_ns = run->waits.max; /* the others' waits are not the question */
    **waits = run->waits;
    run->waits_of_threads = 1;
}
