/* verdict.c - what the runs say: which candidate is better than native, and whether that could be chance */
#include "tune.h"

#include "cli/grid.h"
#include "cli/json.h"
#include "profile/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double significance = 0.05;

int tune_goal(const tuning *s)
{
    return s->metric_text != NULL ? PRINTED : WALL;
}

void tune_check_runs(const tuning *s)
{
    size_t runs = 1, quantities = s->waits ? 3 : 2;
    double p = 1; /* the least that Mann and Whitney's test gives for so many */
    while (p * (double)((s->count - 1) * quantities) > significance)
        runs++, p *= (double)runs / (double)(2 * (2 * runs - 1));
    if (s->runs < runs)
        fail("--runs %zu: too few to prove anything about %zu candidate%s and %zu quantities; %zu would do",
             s->runs, s->count - 1, s->count == 2 ? "" : "s", quantities, runs);
}

static bool higher_is_better(const tuning *s, int quantity)
{
    return quantity == PRINTED && !s->lower;
}

/* Wall time is the command's answer only if it prints none. */
static bool is_judged(const tuning *s, int quantity)
{
    return quantity == tune_goal(s) || quantity == CPU || (quantity == WORST_WAIT && s->waits);
}

static double median_of(const tuning *s, const candidate *c, int quantity)
{
    double *copy = allocate(s->runs, sizeof *copy);
    memcpy(copy, c->values[quantity], s->runs * sizeof *copy);
    double median = summarize(copy, s->runs).median;
    free(copy);
    return median;
}

/* Of those that are better, the best; or the first in order that can't be told from it. */
static const candidate *choose(const tuning *s, int quantity)
{
    const candidate *best = NULL;
    for (size_t i = 1; i < s->count; i++) {
        const candidate *c = &s->candidates[i];
        if (c->with_native[quantity].better &&
            (best == NULL ||
             c->with_native[quantity].times.estimate > best->with_native[quantity].times.estimate))
            best = c;
    }
    for (size_t i = 1; i < s->count && best != NULL; i++) {
        const candidate *c = &s->candidates[i];
        if (c->with_native[quantity].better &&
            (c == best ||
             mann_whitney(c->values[quantity], s->runs, best->values[quantity], s->runs) > significance))
            return c;
    }
    return NULL;
}

/* There may have been no wait at all, which is no number of times better than another. */
static double *without_zeros(const tuning *s, const candidate *c, int quantity)
{
    double *values = allocate(s->runs, sizeof *values);
    for (size_t i = 0; i < s->runs; i++)
        values[i] = quantity == WORST_WAIT && c->values[quantity][i] < 1e-6 ? 1e-6 : c->values[quantity][i];
    return values;
}

static comparison compare(const tuning *s, const candidate *c, int quantity, double p)
{
    double *a = without_zeros(s, c, quantity), *b = without_zeros(s, &s->candidates[0], quantity);
    bool higher = higher_is_better(s, quantity);
    comparison with = {.times = ratio_of(higher ? a : b, s->runs, higher ? b : a, s->runs), .p = p};
    free(a);
    free(b);
    with.sure = p <= significance;
    with.better = with.sure && with.times.estimate >= 1 + s->threshold;
    with.worse = with.sure && with.times.estimate <= 1 / (1 + s->threshold);
    return with;
}

/* All that is asked is asked at once: each further candidate or quantity is another chance to be fooled. */
void tune_judge(tuning *s)
{
    double *p = allocate(s->count * QUANTITIES, sizeof *p);
    size_t asked = 0, judged = 0;
    for (int q = 0; q < QUANTITIES; q++)
        for (size_t i = 0; i < s->count; i++) {
            candidate *c = &s->candidates[i];
            c->median[q] = c->gave_up ? NAN : median_of(s, c, q);
            if (i > 0 && !c->gave_up && is_judged(s, q))
                p[asked++] = mann_whitney(c->values[q], s->runs, s->candidates[0].values[q], s->runs);
        }
    adjust_for_any(p, asked);
    for (int q = 0; q < QUANTITIES; q++) {
        for (size_t i = 1; i < s->count; i++)
            if (!s->candidates[i].gave_up && is_judged(s, q))
                s->candidates[i].with_native[q] = compare(s, &s->candidates[i], q, p[judged++]);
        s->choice[q] = is_judged(s, q) ? choose(s, q) : NULL;
    }
    free(p);
}

/* ---- for people */

static const char *verdict_of(const tuning *s, const candidate *c, int quantity)
{
    const comparison *with = &c->with_native[quantity];
    if (c == &s->candidates[0])
        return "";
    return c->gave_up     ? "stopped: took too long"
           : with->better ? "better"
           : with->worse  ? "worse"
           : with->sure   ? "too small to count"
                          : "not proven";
}

static void add_number(grid *g, double value, int digits)
{
    if (isnan(value))
        grid_add(g, "-");
    else
        grid_add(g, "%.*g", digits, value);
}

/* The first is what counts; then its costs. */
static size_t list_quantities(const tuning *s, int *quantities)
{
    size_t count = 0;
    quantities[count++] = tune_goal(s);
    quantities[count++] = CPU;
    if (s->waits)
        quantities[count++] = WORST_WAIT;
    return count;
}

static const char *const titles[QUANTITIES] = {"wall s", "CPU s", "printed", "worst wait ms"},
                         *const names[QUANTITIES] = {"Wall time", "CPU time", "What it prints", "Worst wait"};

/* As a shell reads it. */
static void print_word(output *o, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    if (*text != '\0' && strspn(text, plain) == strlen(text)) {
        fputs(text, o->file);
        return;
    }
    fputc('\'', o->file);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", o->file);
        else
            fputc(*text, o->file);
    fputc('\'', o->file);
}

static void print_use(output *o, const tuning *s, const candidate *c)
{
    const char *variable = c->variable != NULL ? c->variable : "", *equals = c->variable != NULL ? "=" : "",
               *value = c->variable != NULL ? c->value : "", *space = c->variable != NULL ? " " : "";
    fprintf(o->file, "  once:            %s%s%s%spawl run --lock %s --", variable, equals, value, space,
            c->lock);
    for (char **a = s->argv; *a != NULL; a++) {
        fputc(' ', o->file);
        print_word(o, *a);
    }
    fputs("\n  environment:     LD_PRELOAD=", o->file);
    print_word(o, c->library);
    fprintf(o->file, "%s%s%s%s\n", space, variable, equals, value);
    bool mutex = strncmp(c->lock, "pawl_", 5) == 0;
    fprintf(o->file, "  in the code:     #include <pawl/%s.h>, and %s%s instead of pthread_mutex_t",
            mutex ? c->lock + 5 : c->lock, mutex ? "" : "pawl_", c->lock);
    if (c->built != NULL)
        fprintf(o->file, "; build libpawl with %s", c->built);
    fputc('\n', o->file);
}

static void print_choice(output *o, const tuning *s, int quantity)
{
    const candidate *c = s->choice[quantity];
    bool goal = quantity == tune_goal(s);
    if (c == NULL) {
        fprintf(o->file, "%s: no lock is proven better than the one the program has%s.\n", names[quantity],
                goal ? ": stay with it" : "");
        return;
    }
    const comparison *with = &c->with_native[quantity];
    fprintf(o->file, "%s: %s is %.2f times as good as native (%.2f to %.2f, p = %.2g).\n", names[quantity],
            c->name, with->times.estimate, with->times.low, with->times.high, with->p);
    if (goal)
        print_use(o, s, c);
}

static void add_row(grid *g, const tuning *s, const candidate *c, const int *quantities, size_t count)
{
    bool judged = c != &s->candidates[0] && !c->gave_up;
    grid_add(g, "%s", c->name);
    for (size_t i = 0; i < count; i++) {
        int q = quantities[i];
        add_number(g, q == WORST_WAIT ? c->median[q] * 1e3 : c->median[q], q == PRINTED ? 6 : 4);
        add_number(g, judged ? c->with_native[q].times.estimate : NAN, 3);
        add_number(g, judged ? c->with_native[q].p : NAN, 2);
        grid_add(g, "%s", c->gave_up && i > 0 ? "" : verdict_of(s, c, q));
    }
}

void tune_text(output *o, const tuning *s)
{
    int quantities[QUANTITIES];
    size_t count = list_quantities(s, quantities);
    grid g = grid_new(count == 2 ? "lrrrlrrrl" : "lrrrlrrrlrrrl");
    grid_add(&g, "candidate");
    for (size_t i = 0; i < count; i++) {
        grid_add(&g, "%s", titles[quantities[i]]);
        grid_add(&g, "times as good");
        grid_add(&g, "p");
        grid_add(&g, "verdict");
    }
    for (size_t i = 0; i < s->count; i++)
        add_row(&g, s, &s->candidates[i], quantities, count);
    fprintf(o->file,
            "medians of %zu runs each, interleaved; %s counts; p by Mann and Whitney, adjusted by Holm\n",
            s->runs, s->metric_text != NULL ? "what the program prints" : "wall time");
    grid_print(&g, o->file);
    grid_free(&g);
    fputc('\n', o->file);
    for (size_t i = 0; i < count; i++)
        print_choice(o, s, quantities[i]);
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

static json_t *comparison_json(const tuning *s, const candidate *c, int quantity)
{
    const comparison *with = &c->with_native[quantity];
    if (c == &s->candidates[0] || c->gave_up || !is_judged(s, quantity))
        return json_null();
    return json_pack("{so so so so ss}", "times_as_good", real(with->times.estimate), "low",
                     real(with->times.low), "high", real(with->times.high), "p", real(with->p), "verdict",
                     verdict_of(s, c, quantity));
}

static const char *chosen(const tuning *s, int quantity)
{
    return s->choice[quantity] != NULL ? s->choice[quantity]->name : NULL;
}

void tune_json(output *o, const tuning *s)
{
    json_t *list = json_array();
    int goal = tune_goal(s);
    for (size_t i = 0; i < s->count; i++) {
        const candidate *c = &s->candidates[i];
        json_t *item = json_pack("{ss ss? ss? ss? so so so so so so so so ss}", "name", c->name, "lock",
                                 c->lock, "variable", c->variable, "value", c->value, "library",
                                 c->library != NULL ? utf8_json(c->library) : json_null(), "wall_s",
                                 runs_of(s, c, WALL), "cpu_s", runs_of(s, c, CPU), "printed",
                                 runs_of(s, c, PRINTED), "worst_wait_s", runs_of(s, c, WORST_WAIT), "goal",
                                 comparison_json(s, c, goal), "cpu", comparison_json(s, c, CPU), "worst_wait",
                                 comparison_json(s, c, WORST_WAIT), "verdict", verdict_of(s, c, goal));
        if (json_array_append_new(list, item) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{si sI ss so ss? ss? ss?}", "format", 2, "runs", (json_int_t)s->runs, "goal",
                             s->metric_text != NULL ? "printed" : "wall_s", "candidates", list, "choice",
                             chosen(s, goal), "choice_cpu", chosen(s, CPU), "choice_worst_wait",
                             chosen(s, WORST_WAIT)));
}
