/* verdict.c - what the runs say: which candidate is better than native, and whether that could be chance */
#include "tune.h"

#include "cli/grid.h"
#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double significance = 0.05;

int tune_goal(const tuning *s)
{
    return s->metric_text != NULL ? PRINTED : WALL;
}

static bool higher_is_better(const tuning *s)
{
    return s->metric_text != NULL && !s->lower;
}

static double median_of(const tuning *s, const candidate *c, int quantity)
{
    double *copy = allocate(s->runs, sizeof *copy);
    memcpy(copy, c->values[quantity], s->runs * sizeof *copy);
    double median = summarize(copy, s->runs).median;
    free(copy);
    return median;
}

static ratio times_better(const tuning *s, const double *a, const double *b)
{
    return higher_is_better(s) ? ratio_of(a, s->runs, b, s->runs) : ratio_of(b, s->runs, a, s->runs);
}

/* Of those that are better, the best; or the first in order that can't be told from it. */
static void choose(tuning *s)
{
    int goal = tune_goal(s);
    const candidate *best = NULL;
    for (size_t i = 1; i < s->count; i++)
        if (s->candidates[i].better &&
            (best == NULL || s->candidates[i].times.estimate > best->times.estimate))
            best = &s->candidates[i];
    for (size_t i = 1; i < s->count && best != NULL && s->choice == NULL; i++) {
        const candidate *c = &s->candidates[i];
        if (c->better &&
            (c == best || mann_whitney(c->values[goal], s->runs, best->values[goal], s->runs) > significance))
            s->choice = c;
    }
}

void tune_judge(tuning *s)
{
    int goal = tune_goal(s);
    candidate *native = &s->candidates[0];
    double *p = allocate(s->count, sizeof *p);
    size_t judged = 0;
    for (size_t i = 0; i < s->count; i++)
        for (int q = 0; q < QUANTITIES; q++)
            s->candidates[i].median[q] = s->candidates[i].gave_up ? NAN : median_of(s, &s->candidates[i], q);
    for (size_t i = 1; i < s->count; i++)
        if (!s->candidates[i].gave_up)
            p[judged++] = mann_whitney(s->candidates[i].values[goal], s->runs, native->values[goal], s->runs);
    adjust_for_many(p, judged);
    judged = 0;
    for (size_t i = 1; i < s->count; i++) {
        candidate *c = &s->candidates[i];
        if (c->gave_up)
            continue;
        c->p = p[judged++];
        c->times = times_better(s, c->values[goal], native->values[goal]);
        bool sure = c->p <= significance;
        c->better = sure && c->times.estimate >= 1 + s->threshold;
        c->worse = sure && c->times.estimate <= 1 / (1 + s->threshold);
    }
    free(p);
    choose(s);
}

/* ---- for people */

static const char *verdict_of(const tuning *s, const candidate *c)
{
    if (c == &s->candidates[0])
        return "";
    return c->gave_up  ? "stopped: took too long"
           : c->better ? "better"
           : c->worse  ? "worse"
                       : "no difference";
}

static void add_number(grid *g, double value, int digits)
{
    if (isnan(value))
        grid_add(g, "-");
    else
        grid_add(g, "%.*g", digits, value);
}

static void print_choice(output *o, const tuning *s)
{
    const candidate *c = s->choice;
    if (c == NULL) {
        fprintf(o->file, "\nNo lock is better than the one the program has: stay with it.\n");
        return;
    }
    fprintf(o->file, "\n%s is %.2f times as good as native (%.2f to %.2f, p = %.2g).\n", c->name,
            c->times.estimate, c->times.low, c->times.high, c->p);
    fprintf(o->file, "  once:            pawl run --lock %s%s%s --", c->lock,
            c->wait != NULL ? " --wait " : "", c->wait != NULL ? c->wait : "");
    for (char **a = s->argv; *a != NULL; a++)
        fprintf(o->file, " %s", *a);
    fprintf(o->file, "\n  environment:     LD_PRELOAD=%s%s%s\n", c->library,
            c->wait != NULL ? " PAWL_WAIT=" : "", c->wait != NULL ? c->wait : "");
    bool mutex = strncmp(c->lock, "pawl_", 5) == 0;
    fprintf(o->file, "  in the code:     #include <pawl/%s.h>, and %s%s instead of pthread_mutex_t\n",
            mutex ? c->lock + 5 : c->lock, mutex ? "" : "pawl_", c->lock);
}

void tune_text(output *o, const tuning *s)
{
    grid g = grid_new(s->waits ? "lrrrrrrl" : "lrrrrrl");
    grid_add(&g, "candidate");
    grid_add(&g, "%s", s->metric_text != NULL ? "printed" : "");
    grid_add(&g, "wall s");
    grid_add(&g, "CPU s");
    if (s->waits)
        grid_add(&g, "worst wait ms");
    grid_add(&g, "times as good");
    grid_add(&g, "p");
    grid_add(&g, "verdict");
    for (size_t i = 0; i < s->count; i++) {
        const candidate *c = &s->candidates[i];
        bool judged = i > 0 && !c->gave_up;
        grid_add(&g, "%s", c->name);
        if (s->metric_text != NULL)
            add_number(&g, c->median[PRINTED], 6);
        else
            grid_add(&g, "%s", "");
        add_number(&g, c->median[WALL], 4);
        add_number(&g, c->median[CPU], 4);
        if (s->waits)
            add_number(&g, c->median[WORST_WAIT] * 1e3, 4);
        add_number(&g, judged ? c->times.estimate : NAN, 3);
        add_number(&g, judged ? c->p : NAN, 2);
        grid_add(&g, "%s", verdict_of(s, c));
    }
    fprintf(o->file, "medians of %zu runs each, interleaved; %s counts\n", s->runs,
            s->metric_text != NULL ? "what the program prints" : "wall time");
    grid_print(&g, o->file);
    grid_free(&g);
    print_choice(o, s);
}

/* ---- for programs */

static json_t *runs_of(const tuning *s, const candidate *c, int quantity)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->runs && !c->gave_up; i++)
        if (!isnan(c->values[quantity][i]))
            json_array_append_new(list, json_real(c->values[quantity][i]));
    return list;
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void tune_json(output *o, const tuning *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const candidate *c = &s->candidates[i];
        bool judged = i > 0 && !c->gave_up;
        json_t *item = json_pack(
            "{ss ss? ss? ss? so so so so so so so so ss}", "name", c->name, "lock", c->lock, "wait", c->wait,
            "library", c->library, "wall_s", runs_of(s, c, WALL), "cpu_s", runs_of(s, c, CPU), "printed",
            runs_of(s, c, PRINTED), "worst_wait_s", runs_of(s, c, WORST_WAIT), "times_as_good",
            real(judged ? c->times.estimate : NAN), "low", real(judged ? c->times.low : NAN), "high",
            real(judged ? c->times.high : NAN), "p", real(judged ? c->p : NAN), "verdict", verdict_of(s, c));
        if (json_array_append_new(list, item) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{si sI ss so ss?}", "format", 1, "runs", (json_int_t)s->runs, "goal",
                             s->metric_text != NULL ? "printed" : "wall_s", "candidates", list, "choice",
                             s->choice != NULL ? s->choice->name : NULL));
}
