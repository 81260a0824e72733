/* comparison.c - two results of one workload, point by point */
#include "comparison.h"
#include "rounds.h"

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

/* Grids are made to be related to the reference. On a machine that stays as it is, its noise comes on top, so nothing
 * else is. */
static bool are_grids(const results *a)
{
    return strcmp(a->workload, "grid") == 0 && a->higher_is_better;
}

/* Such a machine is never faster than it was. */
static bool is_simulated(const results *r)
{
    return json_is_true(json_object_get(r->machine, "simulated"));
}

static const char *shared_reference(const results *a, const results *b)
{
    const char *name = reference_lock(a);
    return are_grids(a) && same_text(name, reference_lock(b)) ? name : NULL;
}

/* How many times as fast as the reference a point was in each round. Returns how many there are. */
static size_t times_reference(const results *in, const point *p, double *to)
{
    const point *reference = find_reference(in, p);
    if (reference == NULL || reference == p || !have_same_rounds(reference, p))
        return 0;
    return round_quotients(p, reference, offsetof(run, value), to);
}

static change compare_points(const comparison *of, const point *a, const point *b)
{
    change c = {.a = a, .b = b, .verdict = NOT_JUDGED, .p = NAN, .adjusted = NAN};
    double *x = allocate(a->run_count, sizeof *x), *y = allocate(b->run_count, sizeof *y);
    size_t n = 0, m = 0;
    if (of->reference != NULL) {
        n = times_reference(of->a, a, x);
        m = times_reference(of->b, b, y);
    }
    bool multiples = n > 0 && m > 0;
    if (!multiples) {
        n = run_values(a, offsetof(run, value), x);
        m = run_values(b, offsetof(run, value), y);
    }
    c.a_count = n;
    c.b_count = m;
    c.a_median = summarize(x, n).median;
    c.b_median = summarize(y, m).median;
    c.speed = of->a->higher_is_better ? ratio_of(y, m, x, n) : ratio_of(x, n, y, m);
    if (multiples || of->reference == NULL)
        c.p = mann_whitney(x, n, y, m);
    free(x);
    free(y);
    return c;
}

/* A run that got nothing done leaves no estimate; then it is that of the medians, of which one may be 0, but not both. */
static double speed_of(const change *c, bool higher_is_better)
{
    if (!isnan(c->speed.estimate))
        return c->speed.estimate;
    return higher_is_better ? c->b_median / c->a_median : c->a_median / c->b_median;
}

static verdict judge(const change *c, double threshold, bool higher_is_better)
{
    if (c->adjusted > significance || c->a_median == c->b_median)
        return NO_CHANGE;
    double speed = speed_of(c, higher_is_better);
    if (speed <= 1 - threshold && speed < 1)
        return SLOWER;
    return speed >= 1 + threshold && speed > 1 ? FASTER : NO_CHANGE;
}

/* Two distributions that do not overlap at all are the clearest that this many runs can show. */
static double clearest_p(const change *c)
{
    double ways = lgamma((double)(c->a_count + c->b_count) + 1) - lgamma((double)c->a_count + 1) -
                  lgamma((double)c->b_count + 1);
    return fmin(1, 2 * exp(-ways));
}

static void adjust_and_judge(comparison *c, double threshold)
{
    double *p = allocate(c->count, sizeof *p), clearest = 1;
    size_t next = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!isnan(c->changes[i].p)) {
            p[next++] = c->changes[i].p;
            clearest = fmin(clearest, clearest_p(&c->changes[i]));
        }
    adjust_for_many(p, next);
    next = 0;
    for (size_t i = 0; i < c->count; i++) {
        change *x = &c->changes[i];
        if (!isnan(x->p)) {
            x->adjusted = p[next++];
            x->verdict = judge(x, threshold, c->a->higher_is_better);
        }
        c->verdicts[x->verdict]++;
    }
    c->discoverable = (size_t)ceil(clearest * (double)c->judged / significance - 1e-9);
    free(p);
}

/* All points that both have. */
static void compare_common(comparison *c)
{
    c->count = c->judged = 0;
    for (size_t i = 0; i < c->a->count; i++) {
        const point *other = find_point(c->b, &c->a->points[i]);
        if (other == NULL)
            continue;
        change x = compare_points(c, &c->a->points[i], other);
        c->judged += !isnan(x.p);
        c->changes[c->count++] = x;
    }
}

static void list_missing(comparison *c)
{
    for (size_t i = 0; i < c->a->count; i++)
        if (find_point(c->b, &c->a->points[i]) == NULL)
            c->only_a[c->only_a_count++] = &c->a->points[i];
    for (size_t i = 0; i < c->b->count; i++)
        if (find_point(c->a, &c->b->points[i]) == NULL)
            c->only_b[c->only_b_count++] = &c->b->points[i];
}

static bool is_reference(const comparison *c, const change *x)
{
    return strcmp(x->a->lock, c->reference) == 0;
}

/* The way its medians moved significantly, however little: up, down (-1), or 0. */
static int way(const change *x)
{
    return x->adjusted <= significance ? (x->b_median > x->a_median) - (x->b_median < x->a_median) : 0;
}

/* Whether half of the other locks under its load, or more, moved the way that one moved. */
static bool others_moved(const comparison *runs, const change *moved)
{
    size_t others = 0, with_it = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const change *x = &runs->changes[i];
        if (x == moved || !same_load(x->a, moved->a))
            continue;
        others++;
        with_it += way(x) == way(moved);
    }
    return 2 * with_it >= others;
}

/* A machine that was faster moved the runs of all locks. Where those of the reference alone did, others' multiples moved
 * with it, the other way. */
static void find_lone_moves(comparison *c, double threshold)
{
    comparison runs = {.a = c->a, .b = c->b};
    runs.changes = allocate(c->count, sizeof *runs.changes);
    compare_common(&runs);
    adjust_and_judge(&runs, threshold);
    for (size_t i = 0; i < runs.count; i++) {
        const change *x = &runs.changes[i];
        if (is_reference(c, x) && x->verdict != NO_CHANGE && !others_moved(&runs, x))
            c->lone[c->lone_count++] = x->a;
    }
    free(runs.changes);
}

/* What is not judged, except the reference itself: its runs do not fit there. */
static size_t count_unfit(const comparison *c)
{
    size_t unfit = 0;
    for (size_t i = 0; i < c->count; i++)
        unfit += c->changes[i].verdict == NOT_JUDGED && !is_reference(c, &c->changes[i]);
    return unfit;
}

comparison compare_results(const results *a, const results *b, double threshold)
{
    check_comparable(a, b);
    comparison c = {.a = a, .b = b, .reference = shared_reference(a, b)};
    c.no_reference = are_grids(a) && c.reference == NULL && !(is_simulated(a) && is_simulated(b));
    c.changes = allocate(a->count, sizeof *c.changes);
    c.only_a = allocate(a->count, sizeof *c.only_a);
    c.only_b = allocate(b->count, sizeof *c.only_b);
    c.lone = allocate(a->count, sizeof *c.lone);
    compare_common(&c);
    if (c.reference != NULL && c.judged == 0) {
        c.useless_reference = c.reference;
        c.reference = NULL;
        compare_common(&c);
    }
    if (c.count == 0)
        fail("%s: has no point in common with %s", b->path, a->path);
    list_missing(&c);
    adjust_and_judge(&c, threshold);
    if (c.reference != NULL) {
        c.unfit = count_unfit(&c);
        find_lone_moves(&c, threshold);
    }
    return c;
}

void comparison_free(comparison *c)
{
    free(c->changes);
    free(c->only_a);
    free(c->only_b);
    free(c->lone);
}
