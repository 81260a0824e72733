/* charts.h - what the charts of a report are made of
 *
 *   chart   {kind, title, note, x, y, series}
 *   x       {title, labels, even}: labels is null for numbers. Those are drawn evenly if `even` is there, and
 *           logarithmically if not
 *   y       {title, log, threads}: not logarithmic means from 0 to 1, or, if `threads` is there, a band for each lock, in
 *           which a value is one of so many threads
 *   series  [{lock, marks: [[x, median, least, most, runs], ...]}, ...]
 */
#pragma once

#include "book.h"

/* The points that are drawn in one chart: NULL and 0 stand for all. */
typedef struct panel {
    const char *pin, *variant;
    bool any_variant;
    unsigned threads;
} panel;

bool in_panel(const panel *where, const point *p);

/* Whether no point before the i-th is in the panel, so that it has no chart yet. */
bool is_new_panel(const results *r, size_t i, const panel *where);

/* `what`, and what distinguishes this chart from others of its kind in the file: "Fairness: compact, 8 threads". */
json_t *panel_title(const results *r, const panel *where, const char *what);

/* A mark, or NULL if there is nothing that could be drawn. Sorts the values. */
json_t *mark_of(double x, double *values, size_t count, bool logarithmic);

/* Adds a lock's line to the series, if there is something in it; takes the line over. */
void add_series(json_t *series, size_t lock, json_t *line);

/* order.c: who was admitted after whom, and after how long again. */
void order_charts(json_t *charts, const book *b, const results *r);
