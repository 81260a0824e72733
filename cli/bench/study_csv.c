/* study_csv.c - a study as CSV: a line for each run, as in RFC 4180 but with plain newlines
 *
 * Every line is complete, so lines of many studies can be put together and taken apart again. The columns are the same
 * for all workloads; what a workload does not have is empty.
 */
#include "bench.h"

static const char columns[] =
    "workload,preset,lock,family,variant,cell,pin,unit,threads,run,value,fairness,jain,starvation_ns,"
    "worst_wait_ns,cpu_s,voluntary_switches,involuntary_switches,migrations,switches_per_1000,"
    "migrations_per_1000,cpu_ns_per_acquisition,cycles,instructions,cache_misses,"
    "membarriers_per_1000,futex_waits_per_1000,futex_waits_void_per_1000,futex_wakes_per_1000,"
    "wait_p50_ns,wait_p90_ns,wait_p99_ns,wait_p99.9_ns,wait_p99.99_ns,wait_max_ns,doubts,reasons,notes";

/* What JSON says once, and in which of its objects. */
static const struct {
    const char *object, *name;
} once[] = {
    {"parameters", "duration_s"},
    {"parameters", "warm_up_s"},
    {"parameters", "processes"},
    {"parameters", "wait"},
    {"parameters", "cs"},
    {"parameters", "cs_ns"},
    {"parameters", "ncs"},
    {"parameters", "ncs_ns"},
    {"parameters", "ncs_random"},
    {"parameters", "generator"},
    {"parameters", "locks"},
    {"parameters", "entries"},
    {"parameters", "load"},
    {"parameters", "period_ns"},
    {"parameters", "producers"},
    {"parameters", "consumers"},
    {"parameters", "places"},
    {NULL, "harness_ns"},
    {NULL, "pawl"},
    {NULL, "date"},
    {"machine", "cpu"},
    {"machine", "cpus"},
    {"machine", "sockets"},
    {"machine", "cores"},
    {"machine", "numa_nodes"},
    {"machine", "topology"},
    {"machine", "kernel"},
    {"machine", "libc"},
    {"machine", "compiler"},
    {"machine", "commit"},
    {"machine", "perf"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static void put_quoted(FILE *f, const char *text)
{
    for (; *text != '\0'; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
}

static void text_field(FILE *f, const char *text)
{
    fputc('"', f);
    put_quoted(f, text);
    fputc('"', f);
}

static void texts_field(FILE *f, const doubts *d)
{
    fputs(",\"", f);
    for (size_t i = 0; i < d->count; i++) {
        fputs(i > 0 ? "; " : "", f);
        put_quoted(f, d->text[i]);
    }
    fputc('"', f);
}

/* Nothing for a number that the workload or the machine does not have. */
static void number_field(FILE *f, double value)
{
    fputc(',', f);
    if (value >= 0)
        fprintf(f, "%.9g", value);
}

static void json_field(FILE *f, const json_t *value)
{
    if (json_is_number(value)) {
        number_field(f, json_number_value(value));
        return;
    }
    fputc(',', f);
    if (json_is_string(value))
        text_field(f, json_string_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", f);
}

static void point_fields(FILE *f, const study *s, const point *p)
{
    char room[32];
    const char *texts[] = {s->workload->name,
                           s->preset != NULL ? s->preset : "",
                           p->lock,
                           p->peer ? "peer" : "pawl",
                           p->variant != NULL ? p->variant : "",
                           p->workload != NULL ? p->workload->name : "",
                           pin_name(&p->request.pin, room, sizeof room),
                           s->workload->unit};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        text_field(f, texts[i]);
        fputc(',', f);
    }
    fprintf(f, "%u", p->request.threads);
}

static void run_fields(FILE *f, const sample *of, unsigned number)
{
    const bench_run *x = &of->run;
    bool waits = of->waits != NULL;
    const double numbers[] = {number,
                              x->value,
                              x->fairness,
                              x->jain,
                              x->starvation_ns,
                              x->worst_wait_ns,
                              x->cpu_s,
                              x->voluntary_switches,
                              x->involuntary_switches,
                              x->migrations,
                              per_acquisition(x, 1000 * (x->voluntary_switches + x->involuntary_switches)),
                              per_acquisition(x, 1000 * x->migrations),
                              per_acquisition(x, 1e9 * x->cpu_s),
                              x->counters[BENCH_CYCLES],
                              x->counters[BENCH_INSTRUCTIONS],
                              x->counters[BENCH_CACHE_MISSES],
                              x->calls[PAWL_MEMBARRIERS],
                              x->calls[PAWL_FUTEX_WAITS],
                              x->calls[PAWL_FUTEX_WAITS_VOID],
                              x->calls[PAWL_FUTEX_WAKES],
                              waits ? x->waits.p50 : -1,
                              waits ? x->waits.p90 : -1,
                              waits ? x->waits.p99 : -1,
                              waits ? x->waits.p999 : -1,
                              waits ? x->waits.p9999 : -1,
                              waits ? x->waits.max : -1};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        number_field(f, numbers[i]);
}

/* A grid's parameters are those of the cell. */
static void once_fields(FILE *f, const json_t *head, const point *p)
{
    json_t *cell = cell_json(p);
    for (size_t i = 0; i < COUNT_OF(once); i++) {
        const json_t *in = once[i].object != NULL ? json_object_get(head, once[i].object) : head;
        const json_t *own = json_object_get(cell, once[i].name);
        json_field(f, own != NULL ? own : json_object_get(in, once[i].name));
    }
    json_decref(cell);
}

static void run_line(FILE *f, const study *s, const point *p, unsigned r, const json_t *head)
{
    point_fields(f, s, p);
    run_fields(f, &p->samples[r], r + 1);
    number_field(f, (double)p->doubts.count);
    texts_field(f, &p->doubts);
    texts_field(f, &s->doubts);
    once_fields(f, head, p);
    fputc('\n', f);
}

void study_csv(output *o, const study *s)
{
    json_t *head = study_head(s);
    fputs(columns, o->file);
    for (size_t i = 0; i < COUNT_OF(once); i++)
        fprintf(o->file, ",%s", once[i].name);
    fputc('\n', o->file);
    for (size_t i = 0; i < s->point_count; i++)
        for (unsigned r = 0; r < s->runs; r++)
            run_line(o->file, s, &s->points[i], r, head);
    json_decref(head);
}
