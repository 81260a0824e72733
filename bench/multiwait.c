/* multiwait.c - Hemlock, section 5.6: one thread takes ten locks in order, the others one of them at random
 *
 * Only the leader's rounds count. With Hemlock, a waiter watches a word of the owner, which holds ten
 * locks, so many threads may watch the same word.
 */
#include "workload.h"

#include <errno.h>

static bench_duty duty_of(const bench_request *q, unsigned index)
{
    const bench_lock *lock = bench_lock_of(q);
    return index == 0 ? lock->lead : lock->follow;
}

void bench_multiwait(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    bench_team *t = bench_team_new(q);
    run->error = t != NULL ? bench_run_on_lock(t, q, duty_of, run) : ENOMEM;
    if (run->error != 0)
        return;
    run->value = bench_team_count(t, 0) / BENCH_LOCKS * 1e9 / t->ns;
    /* The leader does ten times as much as the others in a round, so shares would mean nothing, and nothing was
     * timed. */
    run->fairness = run->jain = run->starvation_ns = run->worst_wait_ns = -1;
}
