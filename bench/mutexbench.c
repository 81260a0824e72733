/* mutexbench.c - threads that do nothing but take one lock: the benchmark of all four papers */
#include "workload.h"

#include <pawl/detail/wait.h>

#include <errno.h>
#include <string.h>

enum { SEED = 1 };

bench_duty bench_work_of(const bench_request *q, unsigned index)
{
    (void)index;
    const bench_lock *lock = bench_lock_of(q);
    return bench_has_times(&q->load) ? lock->work_timed : lock->work;
}

/* Either the shared generator was advanced once for every step that a thread counted, or two threads were inside at
 * once. */
static bool excluded(const bench_team *t, const bench_request *q)
{
    uint64_t steps = 0;
    for (unsigned i = 0; i < q->threads; i++)
        steps += t->workers[i].count * q->load.cs;
    if (q->load.mersenne) {
        static mersenne replay;
        mersenne_seed(&replay, SEED);
        mersenne_advance(&replay, steps);
        return memcmp(&replay, &t->shared->twister, sizeof replay) == 0;
    }
    generator replay = generator_from(SEED);
    generator_advance(&replay, steps);
    return memcmp(&replay, &t->shared->data, sizeof replay) == 0;
}

int bench_run_on_lock(bench_team *t, const bench_request *q, bench_duty_of *duty_of, bench_run *run)
{
    const bench_lock *lock = bench_lock_of(q);
    if (lock == NULL)
        return EINVAL;
    pawl_set_wait((pawl_policy)q->policy);
    t->events = lock->peer ? NULL : pawl_events;
    t->shared->data = generator_from(SEED);
    mersenne_seed(&t->shared->twister, SEED);
    for (int i = 0; i < BENCH_LOCKS; i++)
        lock->init(t->shared->locks[i]);
    int error = bench_team_run(t, q, duty_of, run);
    if (error != 0)
        return error;
    for (int i = 0; i < BENCH_LOCKS; i++)
        lock->destroy(t->shared->locks[i]);
    return excluded(t, q) ? 0 : BENCH_NO_EXCLUSION;
}

const bench_lock *bench_lock_of(const bench_request *q)
{
    return strcmp(q->lock, bench_no_lock.name) == 0 ? &bench_no_lock : bench_lock_find(q->lock);
}

void bench_mutexbench(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    bench_team *t = bench_team_new(q);
    run->error = t != NULL ? bench_run_on_lock(t, q, bench_work_of, run) : ENOMEM;
}
