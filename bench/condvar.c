/* condvar.c - producers and consumers at a bounded queue: a mutex and two condition variables as programs use them
 *
 * Whoever puts an item signals "not empty", whoever takes one "not full", both while they hold the lock.
 */
#include "queue.h"
#include "workload.h"

#include <pawl/detail/wait.h>

#include <errno.h>

static bench_duty duty_of(const bench_request *q, unsigned index)
{
    const bench_queue *queue = bench_queue_find(q->lock);
    return index < q->producers ? queue->produce : queue->consume;
}

/* Every item once: what was put was taken, or is still in the queue. */
static bool arrived(const bench_team *t, const bench_request *q, const bench_items *items)
{
    uint64_t put = 0, taken = items->used, put_sum = 0, taken_sum = 0;
    for (unsigned i = 0; i < q->threads; i++) {
        bool producer = i < q->producers;
        *(producer ? &put : &taken) += t->workers[i].count;
        *(producer ? &put_sum : &taken_sum) += t->workers[i].sum;
    }
    if (items->used > items->places)
        return false;
    unsigned place = items->take;
    for (unsigned i = 0; i < items->used; i++, place = bench_next_place(place, items->places))
        taken_sum += items->item[place];
    return put == taken && put_sum == taken_sum;
}

static int run_queue(const bench_queue *queue, bench_team *t, const bench_request *q, bench_run *run)
{
    bench_items *items = bench_sector_alloc(sizeof *items);
    if (items == NULL || (items->item = bench_sector_alloc(q->places * sizeof *items->item)) == NULL)
        return ENOMEM;
    items->places = q->places;
    t->shared->extra = items;
    t->events = queue->peer ? NULL : pawl_events;
    pawl_set_wait((pawl_policy)q->policy);
    queue->init(t->shared);
    int error = bench_team_run(t, q, duty_of, run);
    if (error == 0 && !arrived(t, q, items))
        error = BENCH_NO_ARRIVAL;
    return error;
}

void bench_condvar(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    const bench_queue *queue = bench_queue_find(q->lock);
    bench_team *t = queue != NULL ? bench_team_new(q) : NULL;
    run->error = queue == NULL ? EINVAL : t == NULL ? ENOMEM : run_queue(queue, t, q, run);
    if (run->error != 0)
        return;
    double taken = 0;
    for (unsigned i = q->producers; i < q->threads; i++)
        taken += bench_team_count(t, i);
    run->value = taken * 1e9 / t->ns;
    /* Producers and consumers need not get equal shares, and nothing was timed. */
    run->fairness = run->jain = run->starvation_ns = run->worst_wait_ns = -1;
}
