/* order.c - the charts of `schedule` that have a line for each thread or admission */
#include "charts.h"

#include <stdlib.h>

/* What is drawn of a point: its line. */
typedef json_t *order_line(const point *p, const char *member);

typedef struct order_chart {
    const char *kind, *title, *note, *x_title;
    order_line *line;
    const char *member; /* of a thread's gaps */
} order_chart;

/* A mark for each thread: a gap of its own, in all runs. */
static json_t *gaps_line(const point *p, const char *member)
{
    json_t *line = json_array();
    double *values = allocate(p->run_count, sizeof *values);
    for (unsigned t = 0; t < p->threads; t++) {
        size_t count = 0;
        for (size_t i = 0; i < p->run_count; i++)
            if (p->runs[i].gaps != NULL)
                values[count++] =
                    json_number_value(json_object_get(json_array_get(p->runs[i].gaps, t), member));
        json_t *mark = mark_of(t, values, count, true);
        if (mark != NULL)
            append(line, mark);
    }
    free(values);
    return line;
}

/* A mark for each admission: who it was, in the first run that has a log. */
static json_t *admissions_line(const point *p, const char *member)
{
    (void)member;
    json_t *line = json_array(), *who;
    size_t run = 0, i;
    while (run < p->run_count && p->runs[run].first == NULL)
        run++;
    if (run == p->run_count)
        return line;
    json_array_foreach (p->runs[run].first, i, who) {
        double thread = json_number_value(who);
        append(line, mark_of((double)i + 1, &thread, 1, false));
    }
    return line;
}

static const order_chart order[] = {
    {"order", "Order of admissions",
     "Who was admitted after whom, at the beginning of a run. A lock's threads are numbered as they come: "
     "the first is at the bottom of its band.",
     "admission", admissions_line, NULL},
    {"gaps", "Gaps", "Admissions from one of a thread to its next: the median of each thread.", "thread",
     gaps_line, "p50"},
    {"longest-gaps", "Longest gaps", "The most admissions from one of a thread to its next.", "thread",
     gaps_line, "max"},
};

static json_t *order_series(const book *b, const results *r, const panel *where, const order_chart *c)
{
    json_t *series = json_array();
    for (size_t lock = 0; lock < b->lock_count; lock++)
        for (size_t i = 0; i < r->count; i++)
            if (in_panel(where, &r->points[i]) && book_lock(b, r, &r->points[i]) == lock)
                add_series(series, lock, c->line(&r->points[i], c->member));
    return series;
}

static void add_order(json_t *charts, const book *b, const results *r, const panel *where,
                      const order_chart *c)
{
    json_t *series = order_series(b, r, where, c), *y;
    if (json_array_size(series) == 0) {
        json_decref(series);
        return;
    }
    if (c->line == admissions_line)
        y = json_pack("{sn sb si}", "title", "log", 0, "threads", (int)where->threads);
    else
        y = json_pack("{ss sb}", "title", "admissions", "log", 1);
    append(charts, json_pack("{ss so ss s{ss sn sb} so so}", "kind", c->kind, "title",
                             panel_title(r, where, c->title), "note", c->note, "x", "title", c->x_title,
                             "labels", "even", 1, "y", y, "series", series));
}

void order_charts(json_t *charts, const book *b, const results *r)
{
    for (size_t i = 0; i < r->count; i++) {
        panel where = {
            .pin = r->points[i].pin, .variant = r->points[i].variant, .threads = r->points[i].threads};
        bool wanted = where.threads > 1 && is_new_panel(r, i, &where); /* one thread has no order */
        for (size_t c = 0; c < sizeof order / sizeof order[0] && wanted; c++)
            add_order(charts, b, r, &where, &order[c]);
    }
}
