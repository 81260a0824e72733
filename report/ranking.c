/* ranking.c - for each load, the locks from best to worst, and each compared with glibc */
#include "book.h"
#include "rounds.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static summary summary_of(const point *p, size_t field)
{
    double *values = allocate(p->run_count, sizeof *values);
    summary s = summarize(values, run_values(p, field, values));
    free(values);
    return s;
}

/* How many times b's value a's is: in the same round, if they have the same, or else in any two runs. NANs if one is
 * missing, both are the same point, or any run has no value, or b's is 0: the others alone would be a choice of rounds. */
static ratio relate(const point *a, const point *b, size_t field)
{
    ratio times = {NAN, NAN, NAN, NAN};
    if (a == NULL || b == NULL || a == b)
        return times;
    double *x = allocate(a->run_count, sizeof *x), *y = allocate(b->run_count, sizeof *y);
    if (have_same_rounds(a, b)) {
        times = ratio_of_pairs(x, round_quotients(a, b, field, x));
    } else {
        size_t n = run_values(a, field, x), m = run_values(b, field, y);
        if (n == a->run_count && m == b->run_count)
            times = ratio_of(x, n, y, m);
    }
    free(x);
    free(y);
    return times;
}

/* How many times as fast as the reference, whatever the unit. */
static ratio speed_ratio(const results *r, const point *p, const point *reference)
{
    size_t field = offsetof(run, value);
    return r->higher_is_better ? relate(p, reference, field) : relate(reference, p, field);
}

/* Columns that are the median of the runs, or the worst of them. */
static const struct {
    const char *name;
    size_t field;
    bool worst;
} columns[] = {
    {"fairness", offsetof(run, fairness), false},
    {"jain", offsetof(run, jain), false},
    {"starvation_ns", offsetof(run, starvation_ns), true},
    {"worst_wait_ns", offsetof(run, worst_wait_ns), true},
    {"p50_ns", offsetof(run, wait_ns[0]), false},
    {"p99_ns", offsetof(run, wait_ns[2]), false},
    {"p9999_ns", offsetof(run, wait_ns[4]), false},
    {"thread_p99_ns", offsetof(run, slowest_thread_p99_ns), false},
    {"cpu_s", offsetof(run, cpu_s), false},
    {"voluntary", offsetof(run, voluntary_switches), false},
    {"involuntary", offsetof(run, involuntary_switches), false},
    {"membarriers", offsetof(run, membarriers), false},
    {"futex_waits", offsetof(run, futex_waits), false},
    {"futex_waits_void", offsetof(run, futex_waits_void), false},
    {"futex_wakes", offsetof(run, futex_wakes), false},
    {"switches_each", offsetof(run, switches_each), false},
    {"migrations_each", offsetof(run, migrations_each), false},
    {"cpu_ns_each", offsetof(run, cpu_ns_each), false},
};

static json_t *row_json(const book *b, const results *r, const point *p)
{
    summary value = summary_of(p, offsetof(run, value));
    const point *reference = find_reference(r, p);
    ratio times = speed_ratio(r, p, reference);
    double shorter = relate(reference, p, offsetof(run, wait_ns[2])).estimate;
    json_t *row =
        json_pack("{sI so so so sI so so so so so sb sO}", "lock", (json_int_t)book_lock(b, r, p), "median",
                  number_or_null(value.median), "min", number_or_null(value.min), "max",
                  number_or_null(value.max), "runs", (json_int_t)p->run_count, "ratio",
                  number_or_null(times.estimate), "low", number_or_null(times.low), "high",
                  number_or_null(times.high), "confidence", number_or_null(times.confidence), "p99_ratio",
                  number_or_null(shorter), "reference", reference == p, "doubts", p->doubts);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        summary s = summary_of(p, columns[i].field);
        if (json_object_set_new(row, columns[i].name, number_or_null(columns[i].worst ? s.max : s.median)) !=
            0)
            fail("out of memory");
    }
    return row;
}

typedef struct ranked {
    const point *point;
    double goodness;
} ranked;

/* Equals in the order of the file, whatever this C library's qsort() makes of them. */
static int best_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int order = (x->goodness < y->goodness) - (x->goodness > y->goodness);
    return order != 0 ? order : (x->point > y->point) - (x->point < y->point);
}

static json_t *ranking_json(const book *b, const results *r, const point *load)
{
    ranked *order = allocate(r->count, sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (same_load(&r->points[i], load)) {
            double median = summary_of(&r->points[i], offsetof(run, value)).median;
            order[count++] = (ranked){&r->points[i], r->higher_is_better ? median : -median};
        }
    qsort(order, count, sizeof *order, best_first);
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        append(rows, row_json(b, r, order[i].point));
    free(order);
    return json_pack("{si ss ss? so}", "threads", (int)load->threads, "pin", load->pin, "variant",
                     load->variant, "rows", rows);
}

json_t *rankings_make(const book *b, const results *r)
{
    json_t *rankings = json_array();
    for (size_t i = 0; i < r->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !same_load(&r->points[k], &r->points[i]);
        if (first)
            append(rankings, ranking_json(b, r, &r->points[i]));
    }
    return rankings;
}
