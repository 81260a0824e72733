/* published.c - what the papers say of their figures, and whether a simulation shows it */
#include "published.h"

#include "cli/grid.h"

#include <stdlib.h>
#include <string.h>

typedef enum form { FASTER, ON_PAR, FADES, SCALES } form;

typedef struct value {
    const char *figure;
    unsigned threads;
    const char *lock;
    double rate;
    const char *source;
} value;

typedef struct statement {
    const char *figure;
    form form;
    unsigned from, to; /* threads */
    const char *lock, *other, *source;
} statement;

static const value values[] = {
#define VALUE(figure, threads, lock, rate, source) {figure, threads, lock, rate, source},
#define FASTER(figure, from, to, lock, other, source)
#define ON_PAR(figure, from, to, lock, other, source)
#define FADES(figure, from, to, lock, source)
#define SCALES(figure, from, to, lock, source)
#include "published.def"
#undef VALUE
#undef FASTER
#undef ON_PAR
#undef FADES
#undef SCALES
};

static const statement statements[] = {
#define VALUE(figure, threads, lock, rate, source)
#define FASTER(figure, from, to, lock, other, source) {figure, FASTER, from, to, lock, other, source},
#define ON_PAR(figure, from, to, lock, other, source) {figure, ON_PAR, from, to, lock, other, source},
#define FADES(figure, from, to, lock, source)         {figure, FADES, from, to, lock, NULL, source},
#define SCALES(figure, from, to, lock, source)        {figure, SCALES, from, to, lock, NULL, source},
#include "published.def"
};

#define COUNT(array) (sizeof array / sizeof array[0])

static const value *value_of(const char *figure, const char *lock, unsigned threads)
{
    for (size_t i = 0; i < COUNT(values); i++)
        if (strcmp(values[i].figure, figure) == 0 && strcmp(values[i].lock, lock) == 0 &&
            values[i].threads == threads)
            return &values[i];
    return NULL;
}

double published_rate(const char *figure, const char *lock, unsigned threads)
{
    const value *v = value_of(figure, lock, threads);
    return v != NULL ? v->rate : 0;
}

/* Negative if it was not simulated. */
static double simulated_rate(const study *s, const char *lock, unsigned threads)
{
    for (size_t i = 0; i < s->point_count; i++)
        if (strcmp(s->points[i].lock, lock) == 0 && s->points[i].request.threads == threads)
            return s->points[i].median;
    return -1;
}

static bool is_compared(const statement *t, const study *s)
{
    return simulated_rate(s, t->lock, t->to) >= 0;
}

static bool holds(const statement *t, const study *s)
{
    if (t->form == FADES || t->form == SCALES) {
        double before = simulated_rate(s, t->lock, t->from), after = simulated_rate(s, t->lock, t->to);
        return t->form == FADES ? after < before : after > before;
    }
    double least = t->form == FASTER ? 1 : 0.9;
    for (unsigned threads = t->from; threads <= t->to; threads *= 2)
        if (simulated_rate(s, t->lock, threads) <= least * simulated_rate(s, t->other, threads))
            return false;
    return true;
}

static char *in_words(const statement *t)
{
    static const char *const forms[] = {[FASTER] = "is faster than",
                                        [ON_PAR] = "is as fast as, or faster than,",
                                        [FADES] = "gets slower",
                                        [SCALES] = "gets faster"};
    char *text = NULL;
    int length = t->from == t->to
                     ? asprintf(&text, "%u thread%s: %s %s %s", t->from, t->from == 1 ? "" : "s", t->lock,
                                forms[t->form], t->other)
                     : asprintf(&text, "%u to %u threads: %s %s%s%s", t->from, t->to, t->lock, forms[t->form],
                                t->other != NULL ? " " : "", t->other != NULL ? t->other : "");
    if (length < 0)
        fail("out of memory");
    return text;
}

void published_text(output *o, const char *figure, const study *s)
{
    const char *source = NULL;
    for (size_t i = 0; i < s->point_count && source == NULL; i++) {
        const value *v = value_of(figure, s->points[i].lock, s->points[i].request.threads);
        source = v != NULL ? v->source : NULL;
    }
    if (source != NULL)
        fprintf(o->file, "In brackets: published (%s).\n\n", source);
    grid g = grid_new("lll");
    grid_add(&g, "simulated");
    grid_add(&g, "published");
    grid_add(&g, "where");
    size_t compared = 0;
    for (size_t i = 0; i < COUNT(statements); i++) {
        const statement *t = &statements[i];
        if (strcmp(t->figure, figure) != 0 || !is_compared(t, s))
            continue;
        char *text = in_words(t);
        grid_add(&g, "%s", holds(t, s) ? "so, too" : "NOT SO");
        grid_add(&g, "%s", text);
        grid_add(&g, "%s", t->source);
        free(text);
        compared++;
    }
    if (compared > 0) {
        grid_print(&g, o->file);
        fputc('\n', o->file);
    }
    grid_free(&g);
}

json_t *published_json(const char *figure, const study *s)
{
    json_t *rates = json_array(), *said = json_array();
    for (size_t i = 0; i < COUNT(values); i++) {
        const value *v = &values[i];
        if (strcmp(v->figure, figure) == 0 && simulated_rate(s, v->lock, v->threads) >= 0)
            json_array_append_new(rates,
                                  json_pack("{ss si sf ss}", "lock", v->lock, "threads", (int)v->threads,
                                            "value", v->rate * 1e6, "source", v->source));
    }
    for (size_t i = 0; i < COUNT(statements); i++) {
        const statement *t = &statements[i];
        if (strcmp(t->figure, figure) != 0 || !is_compared(t, s))
            continue;
        char *text = in_words(t);
        json_array_append_new(
            said, json_pack("{ss sb ss}", "statement", text, "simulated", holds(t, s), "source", t->source));
        free(text);
    }
    if (json_array_size(rates) + json_array_size(said) > 0)
        return json_pack("{so so}", "values", rates, "statements", said);
    json_decref(rates);
    json_decref(said);
    return NULL;
}
