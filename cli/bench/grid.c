/* grid.c - `pawl bench grid`: a mutex under many loads, in one table
 *
 * Locks have been tuned for the one load that was measured. So here are many: few and many threads, short and long
 * sections, with and without work in between, other programs, pinned threads, queues, and a thread that rarely asks.
 */
#include "bench.h"

#include <stdlib.h>

enum { QUICK = 0x400, QUICK_RUNS = 5, QUICK_NS = 60000000 };

static const struct argp_option options[] = {
    {"quick", QUICK, NULL, 0, "In about a minute: 5 runs of 60ms; options after it prevail", 0},
    {0},
};

static bool take(study *s, int key, char *argument)
{
    (void)argument;
    if (key != QUICK)
        return false;
    s->runs = QUICK_RUNS;
    s->base.duration_ns = QUICK_NS;
    return true;
}

typedef struct cell {
    const workload *workload;
    unsigned threads;
    bench_load load;
    bench_pin_policy pin;
    unsigned beside;
    unsigned producers, consumers, places; /* of condvar, in the place of threads */
} cell;

#define NOTHING_OUTSIDE .load = {.cs = 1}
#define RANDOM_OUTSIDE  .load = {.cs = 1, .ncs = 400, .ncs_random = true}
#define SECTIONS_US(us) .load = {.cs = 1, .cs_ns = (us)*UINT64_C(1000)}

/* The numbers of threads are the same on every machine, so that two grids have the same points. */
static const cell cells[] = {
    {&mutexbench, 1, NOTHING_OUTSIDE},
    {&mutexbench, 2, NOTHING_OUTSIDE},
    {&mutexbench, 4, NOTHING_OUTSIDE},
    {&mutexbench, 8, NOTHING_OUTSIDE},
    {&mutexbench, 16, NOTHING_OUTSIDE},
    {&mutexbench, 64, NOTHING_OUTSIDE},
    {&mutexbench, 256, NOTHING_OUTSIDE},
    {&mutexbench, 2, NOTHING_OUTSIDE, .pin = BENCH_COMPACT},
    {&mutexbench, 16, NOTHING_OUTSIDE, .pin = BENCH_COMPACT},
    {&mutexbench, 2, RANDOM_OUTSIDE},
    {&mutexbench, 16, RANDOM_OUTSIDE},
    {&mutexbench, 64, RANDOM_OUTSIDE},
    {&mutexbench, 256, RANDOM_OUTSIDE},
    {&mutexbench, 8, RANDOM_OUTSIDE, .beside = 2},
    {&mutexbench, 4, SECTIONS_US(1)},
    {&mutexbench, 16, SECTIONS_US(1)},
    {&mutexbench, 4, SECTIONS_US(20)},
    {&mutexbench, 16, SECTIONS_US(20)},
    {&mutexbench, 4, SECTIONS_US(200)},
    {&mutexbench, 16, SECTIONS_US(200)},
    {&occasional, 16, NOTHING_OUTSIDE},
    {&occasional, 16, SECTIONS_US(10)},
    {&condvar, .producers = 1, .consumers = 1, .places = 64},
    {&condvar, .producers = 4, .consumers = 4, .places = 64},
    {&condvar, .producers = 4, .consumers = 4, .places = 1},
};

/* What distinguishes the cell from others with as many threads. */
static const char *name_of(const workload *w, const bench_request *q)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        fail("out of memory");
    if (w != &mutexbench)
        fprintf(f, "%s: ", w->name);
    w->describe(q, f);
    if (q->beside > 0)
        fprintf(f, ", load %u", q->beside);
    if (fclose(f) != 0)
        fail("out of memory");
    return text;
}

static bench_request request_of(const study *s, const cell *c)
{
    bench_request q = s->base;
    snprintf(q.workload, sizeof q.workload, "%s", c->workload->name);
    q.threads = c->workload == &condvar ? c->producers + c->consumers : c->threads;
    q.load = c->load;
    q.pin = (bench_pin){.policy = c->pin};
    q.beside = c->beside > 0 ? c->beside : q.beside;
    q.producers = c->producers;
    q.consumers = c->consumers;
    q.places = c->places;
    q.period_ns = c->workload->base.period_ns;
    return q;
}

static void plan(study *s)
{
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const cell *c = &cells[i];
        bench_request q = request_of(s, c);
        const char *name = name_of(c->workload, &q);
        for (size_t l = 0; l < s->lock_count; l++) {
            if (c->workload == &condvar && bench_queue_find(s->locks[l]->name) == NULL)
                continue;
            point *p = add_point(s, s->locks[l], q.threads);
            snprintf(q.lock, sizeof q.lock, "%s", s->locks[l]->name);
            p->request = q;
            p->variant = name;
            p->workload = c->workload;
        }
    }
}

static const workload grid_study = {
    .name = "grid",
    .doc = "Measure mutexes in many cells, about ten minutes: few and many threads, short and long sections, "
           "other "
           "programs beside them, pinned threads, queues, and a thread that rarely asks.\vLIST is "
           "comma-separated. "
           "The text shows where a lock of Pawl is ahead of all others and where it is behind; 'pawl report' "
           "draws "
           "a map of the JSON, and 'pawl compare' tells two of them apart.",
    .takes = TAKES_LOCKS,
    .unit = "operations/s",
    .higher_is_better = true,
    .default_locks = "pawl_mutex,blocking",
    .base = {.duration_ns = 400000000},
    .options = options,
    .take = take,
    .subjects = native_subjects,
    .plan = plan,
    .text = grid_text,
};

int grid_main(int argc, char **argv)
{
    return workload_main(&grid_study, argc, argv);
}
