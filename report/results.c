/* results.c - reads and checks results */
#include "fields.h"
#include "load.h"
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const percentile_names[PERCENTILES] = {"p50", "p90", "p99", "p99.9", "p99.99", "max"};
const char *const bypass_names[BYPASSES] = {"0",    "1",     "2",     "3-4",         "5-8",
                                            "9-16", "17-32", "33-64", "more than 64"};

static const field result_fields[] = {
    {"workload", TEXT, offsetof(results, workload)},
    {"preset", TEXT_OR_NULL, offsetof(results, preset)},
    {"parameters", OBJECT, offsetof(results, parameters)},
    {"date", TEXT, offsetof(results, date)},
    {"machine", OBJECT, offsetof(results, machine)},
    {"harness_ns", AMOUNT_OR_NULL, offsetof(results, harness_ns)},
    {"unit", TEXT, offsetof(results, unit)},
    {"higher_is_better", BOOLEAN, offsetof(results, higher_is_better)},
    {"doubts", LIST, offsetof(results, doubts)},
};

static const field point_fields[] = {
    {"lock", TEXT, offsetof(point, lock)},
    {"family", TEXT, offsetof(point, family)},
    {"threads", COUNT, offsetof(point, threads)},
    {"pin", TEXT, offsetof(point, pin)},
    {"variant", TEXT_OR_NULL, offsetof(point, variant)},
    {"doubts", LIST, offsetof(point, doubts)},
};

static const field run_fields[] = {
    {"value", AMOUNT, offsetof(run, value)},
    {"fairness", SHARE_OR_NULL, offsetof(run, fairness)},
    {"jain", SHARE_OR_NULL, offsetof(run, jain)},
    {"starvation_ns", AMOUNT_OR_NULL, offsetof(run, starvation_ns)},
    {"worst_wait_ns", AMOUNT_OR_NULL, offsetof(run, worst_wait_ns)},
    {"cpu_s", AMOUNT, offsetof(run, cpu_s)},
    {"voluntary_switches", AMOUNT, offsetof(run, voluntary_switches)},
    {"involuntary_switches", AMOUNT, offsetof(run, involuntary_switches)},
    {"membarriers_per_1000", AMOUNT_OR_ABSENT, offsetof(run, membarriers)},
    {"futex_waits_per_1000", AMOUNT_OR_ABSENT, offsetof(run, futex_waits)},
    {"futex_waits_void_per_1000", AMOUNT_OR_ABSENT, offsetof(run, futex_waits_void)},
    {"futex_wakes_per_1000", AMOUNT_OR_ABSENT, offsetof(run, futex_wakes)},
    {"switches_per_1000", AMOUNT_OR_ABSENT, offsetof(run, switches_each)},
    {"migrations_per_1000", AMOUNT_OR_ABSENT, offsetof(run, migrations_each)},
    {"cpu_ns_per_acquisition", AMOUNT_OR_ABSENT, offsetof(run, cpu_ns_each)},
};

static void read_waits(const place *at, json_t *waits, run *r)
{
    for (int i = 0; i < PERCENTILES; i++)
        r->wait_ns[i] = NAN;
    r->slowest_thread_p99_ns = NAN;
    if (waits == NULL || json_is_null(waits))
        return;
    if (!json_is_object(waits))
        refuse_member(at, "wait_ns", "must be an object or null");
    for (int i = 0; i < PERCENTILES; i++)
        if (!take_number(json_object_get(waits, percentile_names[i]), AMOUNT, &r->wait_ns[i]))
            refuse_member(at, "wait_ns", "must have a number from 0 for each percentile");
    size_t i;
    json_t *thread;
    json_array_foreach (json_object_get(waits, "threads"), i, thread) {
        double p99;
        if (!take_number(json_object_get(thread, "p99"), AMOUNT, &p99))
            refuse_member(at, "wait_ns.threads", "must have a number from 0 for each p99");
        r->slowest_thread_p99_ns =
            fmax(r->slowest_thread_p99_ns, p99); /* of a NAN and a number: the number */
    }
}

/* Gaps of threads and the order of admissions, in which no thread is beyond those that have gaps. */
static bool has_order(const run *r)
{
    static const char *const members[] = {"p50", "p99", "max"};
    size_t i, threads = json_array_size(r->gaps);
    json_t *item;
    double value;
    bool fits = json_is_array(r->gaps) && json_is_array(r->first);
    json_array_foreach (r->gaps, i, item)
        for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
            fits &= take_number(json_object_get(item, members[k]), AMOUNT, &value);
    json_array_foreach (r->first, i, item)
        fits &= json_is_integer(item) && json_integer_value(item) >= 0 &&
                (size_t)json_integer_value(item) < threads;
    return fits;
}

static void read_schedule(const place *at, json_t *schedule, run *r)
{
    r->period = r->repeats = r->palindromes = NAN;
    for (int i = 0; i < BYPASSES; i++)
        r->bypass[i] = NAN;
    if (schedule == NULL)
        return;
    json_t *bypass = json_object_get(schedule, "bypass");
    bool fits = take_number(json_object_get(schedule, "repeats"), SHARE_OR_NULL, &r->repeats) &&
                take_number(json_object_get(schedule, "palindromes"), SHARE_OR_NULL, &r->palindromes) &&
                take_number(json_object_get(schedule, "period"), AMOUNT_OR_NULL, &r->period);
    for (int i = 0; i < BYPASSES; i++)
        fits &= take_number(json_object_get(bypass, bypass_names[i]), SHARE_OR_NULL, &r->bypass[i]);
    if (!fits)
        refuse_member(at, "schedule",
                      "must have shares from 0 to 1 (repeats, palindromes, each bypass) and a period");
    r->gaps = json_object_get(schedule, "gaps");
    r->first = json_object_get(schedule, "first");
    if (!has_order(r))
        refuse_member(at, "schedule", "must have the gaps of each thread, and in `first` such threads");
}

static void check_doubts(const place *at, const json_t *doubts)
{
    size_t i;
    json_t *doubt;
    json_array_foreach (doubts, i, doubt)
        if (!is_line(doubt))
            refuse_member(at, "doubts", "must be an array of strings of one line");
}

static void read_run(const place *at, json_t *object, void *to)
{
    READ_FIELDS(at, object, run_fields, to);
    read_waits(at, json_object_get(object, "wait_ns"), to);
    read_schedule(at, json_object_get(object, "schedule"), to);
}

static void read_point(const place *at, json_t *object, void *to)
{
    point *p = to;
    READ_FIELDS(at, object, point_fields, p);
    check_doubts(at, p->doubts);
    p->runs = read_array(at, object, "runs", sizeof *p->runs, &p->run_count, read_run);
    for (size_t i = 0; i < p->run_count; i++)
        if (p->runs[i].gaps != NULL && json_array_size(p->runs[i].gaps) != p->threads)
            refuse_member(at, "runs", "must have a schedule with as many gaps as there are threads");
}

/* Parameters and machine are shown as they are, one line each. */
static void check_flat(const place *at, const char *name, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value)
        if (json_is_object(value) || json_is_array(value) || (json_is_string(value) && !is_line(value)))
            refuse_member(at, name,
                          "must have numbers, strings of one line, true, false and null as members");
}

static void check_distinct(const results *r)
{
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_point(&r->points[i], &r->points[j]))
                refuse(r->path, "points[%zu] and points[%zu] are of the same lock under the same load", j, i);
}

static void check_format(const char *path, json_t *root, const char **version)
{
    *version = json_string_value(json_object_get(root, "pawl"));
    json_t *format = json_object_get(root, "format");
    if (*version == NULL || !json_is_integer(format))
        refuse(path, "is no result of pawl bench");
    if (json_integer_value(format) != RESULTS_FORMAT)
        refuse(path, "is of format %lld; this pawl reads format %d", (long long)json_integer_value(format),
               RESULTS_FORMAT);
}

/* File names may hold any bytes, but JSON only UTF-8. */
static char *readable(const char *path)
{
    char *text = strdup(path);
    json_t *value = json_string(path);
    if (text == NULL)
        fail("out of memory");
    for (char *c = text; value == NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_decref(value);
    return text;
}

results results_read(const char *path)
{
    results r = {.path = readable(path), .root = load_json(path)};
    place top = {.path = r.path, .name = ""};
    check_format(path, r.root, &r.version);
    READ_FIELDS(&top, r.root, result_fields, &r);
    check_doubts(&top, r.doubts);
    check_flat(&top, "parameters", r.parameters);
    check_flat(&top, "machine", r.machine);
    r.points = read_array(&top, r.root, "points", sizeof *r.points, &r.count, read_point);
    check_distinct(&r);
    return r;
}

void results_free(results *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->points[i].runs);
    free(r->points);
    free(r->path);
    json_decref(r->root);
}
