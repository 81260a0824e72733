/* charts.c - the lines of a file: what to draw, not how */
#include "charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum scale { RATE, SHARE, MICROSECONDS, TIMES_PINGPONG, ADMISSIONS } scale;

/* Something else than the number of threads: as many numbers, from the metric's field on. */
typedef struct axis {
    const char *title;
    const char *const *labels;
    int count;
} axis;

typedef struct metric {
    const char *kind, *title, *note;
    size_t field;
    scale scale;
    const axis *by; /* NULL: by the number of threads */
} metric;

static const metric metrics[] = {
    {"value", NULL, NULL, offsetof(run, value), RATE, NULL},
    {"handover", "Hand-over against the physical limit",
     "Time per acquisition, as a multiple of the time a cache line takes between the two nearest CPUs "
     "(pingpong). "
     "Below 1 most acquisitions are by the thread that had the lock last.",
     offsetof(run, value), TIMES_PINGPONG, NULL},
    {"fairness", "Fairness", "Fewest acquisitions of a thread over most; 1 is even.", offsetof(run, fairness),
     SHARE, NULL},
    {"jain", "Jain's index", "Of the threads' shares; 1 is even, 1/threads is all to one.",
     offsetof(run, jain), SHARE, NULL},
    {"starvation", "Longest starvation", "The longest time that a thread got nothing done.",
     offsetof(run, starvation_ns), MICROSECONDS, NULL},
    {"p999", "99.9th percentile of waits", "Of the time from asking for the lock to having it.",
     offsetof(run, wait_ns[3]), MICROSECONDS, NULL},
    {"worst-wait", "Worst wait", "The longest acquisition that was timed.", offsetof(run, worst_wait_ns),
     MICROSECONDS, NULL},
    {"period", "Period", "After so many admissions, nine of ten repeat. Locks without a period have no mark.",
     offsetof(run, period), ADMISSIONS, NULL},
    {"repeats", "Periodic", "Share of the admissions that repeat after a period, the best there is.",
     offsetof(run, repeats), SHARE, NULL},
    {"palindromes", "Palindromes",
     "Share of the changes of owner within a palindrome that has room for every thread: those at its ends "
     "wait "
     "longest.",
     offsetof(run, palindromes), SHARE, NULL},
};

static const axis percentiles = {"percentile", percentile_names, PERCENTILES};
static const axis bypasses = {"times", bypass_names, BYPASSES};

/* By something else than threads, so there is a chart for each number of threads. */
static const metric distributions[] = {
    {"waits", "Wait for the lock", "Percentiles of the time from asking for the lock to having it.",
     offsetof(run, wait_ns), MICROSECONDS, &percentiles},
    {"bypass", "Overtaken",
     "How many of the admissions were of waiters that later ones had overtaken so often.",
     offsetof(run, bypass), SHARE, &bypasses},
};

static const char *prefix_of(double factor)
{
    return factor == 1e6 ? "million " : factor == 1e3 ? "thousand " : "";
}

/* What values are divided by, so that an axis has short numbers. */
static double divisor(const results *r, const metric *m)
{
    if (m->scale == MICROSECONDS)
        return 1e3;
    if (m->scale != RATE || !r->higher_is_better)
        return 1;
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < r->points[i].run_count; k++)
            most = fmax(most, r->points[i].runs[k].value);
    return most >= 1e6 ? 1e6 : most >= 1e4 ? 1e3 : 1;
}

static double convert(const book *b, const metric *m, double by, double value)
{
    return m->scale == TIMES_PINGPONG ? 1e9 / value / b->pingpong_ns : value / by;
}

static json_t *mark_json(const book *b, const metric *m, double by, const point *p, size_t field, double x)
{
    double *values = allocate(p->run_count, sizeof *values);
    size_t count = run_values(p, field, values);
    for (size_t i = 0; i < count; i++)
        values[i] = convert(b, m, by, values[i]);
    json_t *mark = mark_of(x, values, count, m->scale != SHARE);
    free(values);
    return mark;
}

static int by_x(const void *a, const void *b)
{
    const json_t *const *p = a, *const *q = b;
    double x = json_number_value(json_array_get(*p, 0)), y = json_number_value(json_array_get(*q, 0));
    return (x > y) - (x < y);
}

/* Of one lock, by number of threads. */
static json_t *line_by_threads(const book *b, const results *r, const metric *m, const panel *where,
                               size_t lock)
{
    json_t **marks = allocate(r->count, sizeof *marks), *line = json_array();
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        bool alone = m->scale == TIMES_PINGPONG && p->threads < 2; /* nobody to hand over to */
        if (!alone && in_panel(where, p) && book_lock(b, r, p) == lock)
            marks[count] = mark_json(b, m, divisor(r, m), p, m->field, p->threads);
        count += marks[count] != NULL;
    }
    qsort(marks, count, sizeof *marks, by_x);
    for (size_t i = 0; i < count; i++)
        append(line, marks[i]);
    free(marks);
    return line;
}

/* Of one lock, by what the metric's labels say. */
static json_t *line_by_label(const book *b, const results *r, const metric *m, const panel *where,
                             size_t lock)
{
    json_t *line = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        if (!in_panel(where, p) || book_lock(b, r, p) != lock)
            continue;
        for (int k = 0; k < m->by->count; k++) {
            size_t field = m->field + (size_t)k * sizeof(double);
            json_t *mark = mark_json(b, m, divisor(r, m), p, field, k);
            if (mark != NULL)
                append(line, mark);
        }
    }
    return line;
}

typedef json_t *line_maker(const book *, const results *, const metric *, const panel *, size_t lock);

static json_t *series_json(const book *b, const results *r, const metric *m, const panel *where,
                           line_maker *make)
{
    json_t *series = json_array();
    for (size_t lock = 0; lock < b->lock_count; lock++)
        add_series(series, lock, make(b, r, m, where, lock));
    return series;
}

static json_t *y_json(const results *r, const metric *m)
{
    switch (m->scale) {
    case RATE:
        return json_pack("{ss+ sb}", "title", prefix_of(divisor(r, m)), r->unit, "log", 1);
    case SHARE:
        return json_pack("{sn sb}", "title", "log", 0);
    case MICROSECONDS:
        return json_pack("{ss sb}", "title", "µs", "log", 1);
    case TIMES_PINGPONG:
        return json_pack("{ss sb}", "title", "× pingpong", "log", 1);
    case ADMISSIONS:
        return json_pack("{ss sb}", "title", "admissions", "log", 1);
    }
    return NULL;
}

static const char *title_of(const results *r, const metric *m)
{
    return m->title != NULL ? m->title : strchr(r->unit, '/') != NULL ? "Throughput" : "Time";
}

static void add_chart(json_t *charts, const book *b, const results *r, const metric *m, const panel *where)
{
    json_t *series = series_json(b, r, m, where, m->by != NULL ? line_by_label : line_by_threads);
    if (json_array_size(series) == 0) {
        json_decref(series);
        return;
    }
    json_t *labels = m->by != NULL ? json_array() : json_null();
    for (int i = 0; m->by != NULL && i < m->by->count; i++)
        append(labels, json_string(m->by->labels[i]));
    append(charts, json_pack("{ss so ss? s{ss so} so so}", "kind", m->kind, "title",
                             panel_title(r, where, title_of(r, m)), "note", m->note, "x", "title",
                             m->by != NULL ? m->by->title : "threads", "labels", labels, "y", y_json(r, m),
                             "series", series));
}

/* Only if nothing comes between two acquisitions is the time of one that of a hand-over. */
static bool has_handovers(const book *b, const results *r)
{
    json_t *ncs = json_object_get(r->parameters, "ncs");
    bool none =
        (json_is_number(ncs) && json_number_value(ncs) == 0) || same_text(json_string_value(ncs), "0");
    return b->pingpong != NULL && strcmp(r->workload, "mutexbench") == 0 && none;
}

/* Whether the variants of a pin go into one chart: those of `ring` are its lines, and those of `tail` are numbers of
 * threads. */
static bool shares_variants(const results *r)
{
    return strcmp(r->workload, "ring") == 0 || strcmp(r->workload, "tail") == 0;
}

static panel panel_of(const results *r, const point *p)
{
    return (panel){.pin = p->pin, .variant = p->variant, .any_variant = shares_variants(r)};
}

static void add_distributions(json_t *charts, const book *b, const results *r)
{
    for (size_t i = 0; i < r->count; i++) {
        panel where = {
            .pin = r->points[i].pin, .variant = r->points[i].variant, .threads = r->points[i].threads};
        for (size_t m = 0; m < sizeof distributions / sizeof distributions[0] && is_new_panel(r, i, &where);
             m++)
            add_chart(charts, b, r, &distributions[m], &where);
    }
}

/* If there is one number of threads, or one for each cell, tables say it all. */
static bool has_sweeps(const results *r)
{
    static const char *const none[] = {"pingpong", "condvar", "grid"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (strcmp(r->workload, none[i]) == 0)
            return false;
    return true;
}

json_t *charts_make(const book *b, const results *r)
{
    json_t *charts = json_array();
    if (!has_sweeps(r))
        return charts;
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        for (size_t i = 0; i < r->count; i++) {
            panel where = panel_of(r, &r->points[i]);
            bool wanted = metrics[m].scale != TIMES_PINGPONG || has_handovers(b, r);
            if (wanted && is_new_panel(r, i, &where))
                add_chart(charts, b, r, &metrics[m], &where);
        }
        if (m == 0) { /* what they are measured for */
            add_distributions(charts, b, r);
            order_charts(charts, b, r);
        }
    }
    return charts;
}
