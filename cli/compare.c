/* compare.c - `pawl compare`: what got faster or slower from one measurement to the next */
#include "cli.h"
#include "grid.h"
#include "json.h"

#include "report/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *paths[2];
    int path_count;
    double threshold; /* 0.05 is 5 % */
    bool json, all;
    const char *output;
} request;

static const char *const verdict_names[] = {
    [SLOWER] = "slower", [FASTER] = "faster", [NO_CHANGE] = "no change", [NOT_JUDGED] = "not judged"};

static double parse_percentage(const char *what, const char *text)
{
    char *end;
    size_t digits = strspn(text, "0123456789."); /* strtod() would also take infinities and signs */
    double value = strtod(text, &end);
    if (digits == 0 || end != text + digits || (*end == '%' ? end[1] : *end) != '\0')
        fail("%s '%s': not a percentage, such as 5", what, text);
    if (value > 100)
        fail("%s '%s': must be from 0 to 100", what, text);
    return value / 100;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 't':
        r->threshold = parse_percentage("--threshold", argument);
        return 0;
    case 'a':
        r->all = true;
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (r->path_count == 2)
            return ARGP_ERR_UNKNOWN;
        r->paths[r->path_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (r->path_count < 2)
            fail("two files are needed; see '%s --help'", state->name);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"threshold", 't', "PERCENT", 0, "Changes below this do not count (default 5)", 0},
    {"all", 'a', NULL, 0, "Show the points without a change, too", 0},
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "BEFORE AFTER",
    .doc =
        "Show what got faster or slower between two files that 'pawl bench' wrote as JSON.\v"
        "A change counts if it is significant (Mann-Whitney's test, Benjamini and Hochberg's "
        "false discovery rate of 5 % over all points) and not below the threshold. The exit status is 1 if "
        "something got slower.\n\n"
        "Of two grids that have the same mutex of glibc, the other locks' throughput is compared as a "
        "multiple "
        "of its throughput in the same round, so that a machine that was faster that day makes no lock "
        "faster; glibc's own is not judged.",
    .children = common_options};

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

static void add_change(grid *g, const change *c)
{
    bool doubted = json_array_size(c->a->doubts) + json_array_size(c->b->doubts) > 0;
    grid_add(g, "%s", verdict_names[c->verdict]);
    grid_add(g, "%s", c->a->lock);
    grid_add(g, "%u", c->a->threads);
    grid_add(g, "%s", c->a->pin);
    grid_add(g, "%s", or_dash(c->a->variant));
    grid_add(g, "%.4g", c->a_median);
    grid_add(g, "%.4g", c->b_median);
    if (isnan(c->speed.estimate)) {
        grid_add(g, "-");
        grid_add(g, "-");
    } else {
        grid_add(g, "%+.1f %%", 100 * (c->speed.estimate - 1));
        grid_add(g, "%+.1f..%+.1f", 100 * (c->speed.low - 1), 100 * (c->speed.high - 1));
    }
    if (isnan(c->adjusted))
        grid_add(g, "-%s", doubted ? " ?" : "");
    else
        grid_add(g, "%.2g%s", c->adjusted, doubted ? " ?" : "");
}

static void print_changes(output *o, const comparison *c, bool all)
{
    static const char *const heads[] = {"",       "lock",  "threads", "pin",      "variant",
                                        "before", "after", "speed",   "interval", "p"};
    grid g = grid_new("llrllrrrrl");
    for (size_t i = 0; i < g.columns; i++)
        grid_add(&g, "%s", heads[i]);
    for (verdict v = SLOWER; v < (all ? NOT_JUDGED + 1 : NO_CHANGE); v++)
        for (size_t i = 0; i < c->count; i++)
            if (c->changes[i].verdict == v)
                add_change(&g, &c->changes[i]);
    if (g.cells > g.columns) {
        grid_print(&g, o->file);
        fputc('\n', o->file);
    }
    grid_free(&g);
}

static void print_missing(output *o, const results *in, const point *const *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(o->file, "only in %s: %s, ", in->path, points[i]->lock);
        print_load(o->file, points[i]);
        fputc('\n', o->file);
    }
}

static void print_text(output *o, const comparison *c, const request *r)
{
    fprintf(o->file, "%s%s%s in %s", c->a->workload, c->a->preset != NULL ? " " : "",
            c->a->preset != NULL ? c->a->preset : "", c->a->unit);
    if (c->reference != NULL)
        fprintf(o->file, ", as multiples of those of %s in the same round", c->reference);
    fputc('\n', o->file);
    fprintf(o->file, "before: %s, %s, commit %s\nafter:  %s, %s, commit %s\n\n", c->a->path, c->a->date,
            machine_text(c->a, "commit"), c->b->path, c->b->date, machine_text(c->b, "commit"));
    print_changes(o, c, r->all);
    print_missing(o, c->a, c->only_a, c->only_a_count);
    print_missing(o, c->b, c->only_b, c->only_b_count);
    json_t *notes = comparison_notes(c), *note;
    size_t i;
    json_array_foreach (notes, i, note)
        fprintf(o->file, "note: %s\n", json_string_value(note));
    json_decref(notes);
    fprintf(o->file, "%zu slower, %zu faster, %zu without a change of %g %% or more that is significant",
            c->verdicts[SLOWER], c->verdicts[FASTER], c->verdicts[NO_CHANGE], 100 * r->threshold);
    if (c->reference != NULL)
        fprintf(o->file, "; not judged, and not multiples: %zu, of %s itself or where its runs do not fit",
                c->verdicts[NOT_JUDGED], c->reference);
    fputc('\n', o->file);
}

static json_t *point_json(const point *p)
{
    return json_pack("{ss si ss ss?}", "lock", p->lock, "threads", (int)p->threads, "pin", p->pin, "variant",
                     p->variant);
}

static json_t *change_json(const change *c)
{
    json_t *object = point_json(c->a);
    json_t *more =
        json_pack("{ss so so so so so so so so sO sO}", "verdict", verdict_names[c->verdict], "before",
                  number_or_null(c->a_median), "after", number_or_null(c->b_median), "speed",
                  number_or_null(c->speed.estimate), "low", number_or_null(c->speed.low), "high",
                  number_or_null(c->speed.high), "confidence", number_or_null(c->speed.confidence), "p",
                  number_or_null(c->p), "p_adjusted", number_or_null(c->adjusted), "doubts_before",
                  c->a->doubts, "doubts_after", c->b->doubts);
    if (object == NULL || json_object_update_new(object, more) != 0)
        fail("out of memory");
    return object;
}

static json_t *points_json(const point *const *points, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        append(array, point_json(points[i]));
    return array;
}

static json_t *side_json(const results *r)
{
    return json_pack("{ss ss sO}", "file", r->path, "date", r->date, "machine", r->machine);
}

static void print_json(output *o, const comparison *c, const request *r)
{
    json_t *points = json_array();
    for (size_t i = 0; i < c->count; i++)
        append(points, change_json(&c->changes[i]));
    output_json(o, json_pack("{ss ss? ss ss? so so sf sf sI sI sI so so so so}", "workload", c->a->workload,
                             "preset", c->a->preset, "unit", c->a->unit, "reference", c->reference, "before",
                             side_json(c->a), "after", side_json(c->b), "threshold", r->threshold,
                             "significance", significance, "slower", (json_int_t)c->verdicts[SLOWER],
                             "faster", (json_int_t)c->verdicts[FASTER], "not_judged",
                             (json_int_t)c->verdicts[NOT_JUDGED], "points", points, "only_before",
                             points_json(c->only_a, c->only_a_count), "only_after",
                             points_json(c->only_b, c->only_b_count), "notes", comparison_notes(c)));
}

int compare_main(int argc, char **argv)
{
    request r = {.threshold = 0.05};
    parse_options(&argp, argc, argv, 0, &r);
    output_check_apart(r.output, r.paths[0]);
    output_check_apart(r.output, r.paths[1]);
    output_check(r.output);
    results a = results_read(r.paths[0]), b = results_read(r.paths[1]);
    comparison c = compare_results(&a, &b, r.threshold);
    bool slower = c.verdicts[SLOWER] > 0;
    output o;
    output_open(&o, r.output);
    (r.json ? print_json : print_text)(&o, &c, &r);
    output_close(&o);
    comparison_free(&c);
    results_free(&a);
    results_free(&b);
    return slower ? EXIT_BAD_NEWS : EXIT_SUCCESS;
}
