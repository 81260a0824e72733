/* measure.c - runs all points of a study, in turns */
#include "bench.h"

#include "bench/ticks.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between two values, in proportion, as most programs do it. */
double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, by_value);
    double at = part * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return values[below] + (values[above] - values[below]) * (at - (double)below);
}

double point_median(const point *p, unsigned runs, size_t offset)
{
    double *values = allocate(runs, sizeof *values);
    for (unsigned r = 0; r < runs; r++)
        values[r] = *(const double *)((const char *)&p->samples[r].run + offset);
    double median = quantile(values, runs, 0.5);
    free(values);
    return median;
}

double point_worst(const point *p, unsigned runs, size_t offset)
{
    double most = -1;
    for (unsigned r = 0; r < runs; r++) {
        double value = *(const double *)((const char *)&p->samples[r].run + offset);
        most = value > most ? value : most;
    }
    return most;
}

static _Noreturn void give_up(const point *p, int error)
{
    progress_clear();
    unsigned threads = p->request.threads;
    const char *s = threads == 1 ? "" : "s";
    switch (error) {
    case BENCH_NO_EXCLUSION:
        fprintf(stderr, "pawl: %s: two of %u threads held the lock at once\n", p->lock, threads);
        exit(EXIT_BAD_NEWS);
    case BENCH_NO_ARRIVAL:
        fprintf(stderr, "pawl: %s: items got lost or arrived twice between %u threads\n", p->lock, threads);
        exit(EXIT_BAD_NEWS);
    case BENCH_DIED:
        fail("%s with %u thread%s: the measuring process ended without a result", p->lock, threads, s);
    case BENCH_NO_PROGRAM:
        fail("%s: cannot start the measuring program", p->request.workload);
    case BENCH_NOT_INTERPOSED:
        fail("%s: %s could not be loaded into the measuring program", p->lock, p->place.preload);
    case BENCH_NO_DATABASE:
        fail("%s: cannot make or open a database in %s", p->request.workload, p->request.path);
    }
    fail("%s with %u thread%s: %s", p->lock, threads, s, strerror(error));
}

static void run(point *p, unsigned round)
{
    sample *into = &p->samples[round];
    into->run = bench_ask(&p->request, &p->place, &into->waits);
    if (into->run.error != 0)
        give_up(p, into->run.error);
}

static void show(const point *p, size_t done, size_t all, uint64_t since)
{
    double passed = (double)(pawl_nanoseconds(CLOCK_MONOTONIC) - since) / 1e9;
    progress_show("%3zu %%, %.0f s left  %s%s%s, %u thread%s", 100 * done / all,
                  done > 0 ? passed / (double)done * (double)(all - done) : 0, p->lock, p->variant ? " " : "",
                  p->variant ? p->variant : "", p->request.threads, p->request.threads == 1 ? "" : "s");
}

static bool is_same_load(const point *a, const point *b)
{
    return a->variant == b->variant && a->request.threads == b->request.threads;
}

static void move_up(size_t *order, size_t from, size_t to)
{
    size_t moved = order[from];
    memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    order[to] = moved;
}

/* Those that are compared with each other follow one another: a machine may be twice as fast a few seconds later. */
static void gather_loads(const study *s, size_t *order)
{
    for (size_t i = 1; i < s->point_count; i++)
        for (size_t j = i; j < s->point_count; j++)
            if (is_same_load(&s->points[order[i - 1]], &s->points[order[j]])) {
                move_up(order, j, i);
                break;
            }
}

/* Another order in every round, so that nobody always follows the same one. */
static void shuffle(const study *s, size_t *order, unsigned round)
{
    generator g = generator_from(round + 1);
    for (size_t i = 0; i < s->point_count; i++)
        order[i] = i;
    for (size_t i = s->point_count; i > 1; i--) {
        size_t j = (size_t)((generator_next(&g) >> 32) * i >> 32), moved = order[i - 1];
        order[i - 1] = order[j];
        order[j] = moved;
    }
    gather_loads(s, order);
}

static void summarise(point *p, unsigned runs)
{
    double *values = allocate(runs, sizeof *values);
    for (unsigned r = 0; r < runs; r++)
        values[r] = p->samples[r].run.value;
    p->median = quantile(values, runs, 0.5);
    p->min = values[0];
    p->max = values[runs - 1];
    p->q1 = quantile(values, runs, 0.25);
    p->q3 = quantile(values, runs, 0.75);
    free(values);
}

/* The last point is the loop itself, with one thread and a lock that does nothing; it is not a result. */
static void add_harness(study *s)
{
    static const subject nothing = {.name = "(none)", .waiting = BENCH_SPINS};
    s->harness_known = s->workload->harness;
    if (s->harness_known)
        add_point(s, &nothing, 1);
}

/* The fastest run: the loop cannot be faster than it is, only disturbed, and no doubts are kept about this point. */
static void take_harness(study *s)
{
    if (!s->harness_known)
        return;
    point *p = &s->points[--s->point_count];
    s->harness_ns = p->max > 0 ? 1e9 / p->max : 0;
    for (unsigned r = 0; r < s->runs; r++)
        free(p->samples[r].waits);
    free(p->samples);
}

void measure(study *s)
{
    add_harness(s);
    size_t *order = allocate(s->point_count, sizeof *order), done = 0;
    uint64_t since = pawl_nanoseconds(CLOCK_MONOTONIC);
    for (unsigned round = 0; round < s->runs; round++) {
        shuffle(s, order, round);
        for (size_t i = 0; i < s->point_count; i++, done++) {
            show(&s->points[order[i]], done, s->point_count * s->runs, since);
            run(&s->points[order[i]], round);
        }
    }
    progress_clear();
    for (size_t i = 0; i < s->point_count; i++)
        summarise(&s->points[i], s->runs);
    take_harness(s);
    free(order);
}
