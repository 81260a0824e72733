/* results.h - reads what `pawl bench --json` wrote (bench/result.schema.json)
 *
 * The files come from anywhere: what is used of them is checked here, once, and nothing is used unchecked.
 */
#pragma once

#include "cli/cli.h"

#include <jansson.h>

enum { RESULTS_FORMAT = 1, PERCENTILES = 6, BYPASSES = 9 };

extern const char *const percentile_names[PERCENTILES]; /* "p50" ... "max" */
extern const char *const bypass_names[BYPASSES];        /* "0" ... "more than 64" */

/* One process. What was not measured is NAN. */
typedef struct run {
    double value;
    double fairness, jain;
    double starvation_ns, worst_wait_ns;
    double cpu_s, voluntary_switches, involuntary_switches;
    double membarriers, futex_waits, futex_waits_void, futex_wakes; /* per 1000 acquisitions */
    double switches_each, migrations_each;                          /* these, too              */
    double cpu_ns_each;                                             /* per acquisition         */
    double wait_ns[PERCENTILES];
    double slowest_thread_p99_ns;
    double period, repeats, palindromes, bypass[BYPASSES]; /* of `schedule`: shares, but for the period    */
    json_t *gaps, *first; /* arrays of {p50, p99, max}, one per thread, and of threads; or both are NULL */
} run;

/* One lock under one load. */
typedef struct point {
    const char *lock, *family, *pin;
    const char *variant; /* may be NULL */
    unsigned threads;
    run *runs;
    size_t run_count;
    json_t *doubts; /* array of strings */
} point;

typedef struct results {
    char *path;   /* in UTF-8 */
    json_t *root; /* owns all strings */
    const char *workload, *unit, *date, *version;
    const char *preset; /* may be NULL */
    bool higher_is_better;
    double harness_ns;            /* or NAN */
    json_t *parameters, *machine; /* objects whose members are no arrays and no objects */
    json_t *doubts;
    point *points;
    size_t count; /* at least 1; no two of the same lock, threads, pin and variant */
} results;

/* Fails with a line that names the file and what is wrong with it. */
results results_read(const char *path);
void results_free(results *r);

/* NULL is equal to NULL alone. */
bool same_text(const char *a, const char *b);

/* Whether two points are of the same lock under the same load. */
bool same_point(const point *a, const point *b);

/* Whether they are under the same load, whatever their locks. */
bool same_load(const point *a, const point *b);

/* Whether both were measured on the same kind of machine: CPU, its number and kernel. */
bool same_machine(const results *a, const results *b);

/* A field of a run: `field` is its offset there. */
double run_value(const point *p, size_t i, size_t field);

/* What a field of the runs was, in order. Leaves out NANs; `to` has room for run_count. Returns how many there are. */
size_t run_values(const point *p, size_t field, double *to);

/* For building JSON: null for NAN; and an item of an array, or fail(). */
json_t *number_or_null(double value);
void append(json_t *array, json_t *item);
