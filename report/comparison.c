/* comparison.c - two results of one workload, point by point */
#include "comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double significance = 0.05;

/* Duration and number of runs: not part of the load. Each point has its own `pin`. */
static const char *const free_parameters[] = {"duration_s", "warm_up_s", "processes", "pin"};

static bool is_free(const char *parameter)
{
    for (size_t i = 0; i < sizeof free_parameters / sizeof free_parameters[0]; i++)
        if (strcmp(free_parameters[i], parameter) == 0)
            return true;
    return false;
}

static void check_parameters(const results *a, const results *b)
{
    const char *name;
    json_t *value;
    json_object_foreach (a->parameters, name, value) {
        json_t *other = json_object_get(b->parameters, name);
        if (!is_free(name) && (other == NULL || !json_equal(value, other)))
            fail("%s: '%s' is not what it is in %s", b->path, name, a->path);
    }
    json_object_foreach (b->parameters, name, value)
        if (!is_free(name) && json_object_get(a->parameters, name) == NULL)
            fail("%s: '%s' is not what it is in %s", b->path, name, a->path);
}

static void check_comparable(const results *a, const results *b)
{
    if (!same_text(a->workload, b->workload))
        fail("%s: is of '%s', and %s of '%s'", b->path, b->workload, a->path, a->workload);
    if (!same_text(a->unit, b->unit) || a->higher_is_better != b->higher_is_better)
        fail("%s: is in %s, and %s in %s", b->path, b->unit, a->path, a->unit);
    check_parameters(a, b);
}

static const point *find_point(const results *in, const point *like)
{
    for (size_t i = 0; i < in->count; i++)
        if (same_point(&in->points[i], like))
            return &in->points[i];
    return NULL;
}

static change compare_points(const point *a, const point *b, bool higher_is_better)
{
    change c = {.a = a, .b = b, .verdict = NO_CHANGE};
    double *x = allocate(a->run_count, sizeof *x), *y = allocate(b->run_count, sizeof *y);
    size_t n = run_values(a, offsetof(run, value), x), m = run_values(b, offsetof(run, value), y);
    c.a_median = summarize(x, n).median;
    c.b_median = summarize(y, m).median;
    c.p = mann_whitney(x, n, y, m);
    c.speed = higher_is_better ? ratio_of(y, m, x, n) : ratio_of(x, n, y, m);
    free(x);
    free(y);
    return c;
}

/* A run that got nothing done leaves no ratio; then the medians say which way it went. */
static verdict judge(const change *c, double threshold, bool higher_is_better)
{
    bool better = (c->b_median > c->a_median) == higher_is_better;
    if (c->adjusted > significance || c->a_median == c->b_median)
        return NO_CHANGE;
    if (isnan(c->speed.estimate))
        return better ? FASTER : SLOWER;
    if (c->speed.estimate <= 1 - threshold && c->speed.estimate < 1)
        return SLOWER;
    return c->speed.estimate >= 1 + threshold && c->speed.estimate > 1 ? FASTER : NO_CHANGE;
}

/* Two distributions that do not overlap at all are the clearest that this many runs can show. */
static double clearest_p(const change *c)
{
    double ways = lgamma((double)(c->a->run_count + c->b->run_count) + 1) -
                  lgamma((double)c->a->run_count + 1) - lgamma((double)c->b->run_count + 1);
    return fmin(1, 2 * exp(-ways));
}

static void adjust_and_judge(comparison *c, double threshold)
{
    double *p = allocate(c->count, sizeof *p), clearest = 1;
    for (size_t i = 0; i < c->count; i++) {
        p[i] = c->changes[i].p;
        clearest = fmin(clearest, clearest_p(&c->changes[i]));
    }
    adjust_for_many(p, c->count);
    for (size_t i = 0; i < c->count; i++) {
        c->changes[i].adjusted = p[i];
        c->changes[i].verdict = judge(&c->changes[i], threshold, c->a->higher_is_better);
        c->verdicts[c->changes[i].verdict]++;
    }
    c->discoverable = (size_t)ceil(clearest * (double)c->count / significance - 1e-9);
    free(p);
}

comparison compare_results(const results *a, const results *b, double threshold)
{
    check_comparable(a, b);
    comparison c = {.a = a, .b = b};
    c.changes = allocate(a->count, sizeof *c.changes);
    c.only_a = allocate(a->count, sizeof *c.only_a);
    c.only_b = allocate(b->count, sizeof *c.only_b);
    for (size_t i = 0; i < a->count; i++) {
        const point *other = find_point(b, &a->points[i]);
        if (other != NULL)
            c.changes[c.count++] = compare_points(&a->points[i], other, a->higher_is_better);
        else
            c.only_a[c.only_a_count++] = &a->points[i];
    }
    for (size_t i = 0; i < b->count; i++)
        if (find_point(a, &b->points[i]) == NULL)
            c.only_b[c.only_b_count++] = &b->points[i];
    if (c.count == 0)
        fail("%s: has no point in common with %s", b->path, a->path);
    adjust_and_judge(&c, threshold);
    return c;
}

void comparison_free(comparison *c)
{
    free(c->changes);
    free(c->only_a);
    free(c->only_b);
}
