/* tune.h - what the parts of `pawl tune` share */
#pragma once

#include "cli/output.h"
#include "report/statistics.h"

#include <regex.h>

/* What is measured of every run. */
enum { WALL, CPU, PRINTED, WORST_WAIT, QUANTITIES };

/* With native: above 1 is better. */
typedef struct comparison {
    ratio times;
    double p; /* Mann-Whitney's, adjusted for all candidates and quantities */
    bool sure, better, worse;
} comparison;

/* One way to run the command. */
typedef struct candidate {
    char *name;                   /* "native", "tts", "tts:spin" */
    char *lock;                   /* NULL: native */
    const char *variable, *value; /* in its environment, or NULL */
    const char *built;            /* what does the same to a libpawl that is compiled with it, or NULL */
    char *library;
    double *values[QUANTITIES]; /* of the runs; NAN: not measured */
    double median[QUANTITIES];
    bool gave_up; /* it took too long */
    comparison with_native[QUANTITIES];
} candidate;

typedef struct tuning {
    char **argv;
    regex_t metric;
    const char *metric_text; /* NULL: wall time counts */
    bool lower, waits;
    size_t runs, count;
    candidate *candidates; /* the first is native */
    double threshold;
    const candidate *choice[QUANTITIES]; /* NULL: none is better */
} tuning;

/* Seconds, seconds, what it prints. False if it took longer than `limit` (0: none). Fails if the command does. */
bool tune_run(const tuning *s, const candidate *c, double limit, double *values);

/* Seconds of the longest wait for a lock. */
double tune_worst_wait(const tuning *s, const candidate *c);

/* Which quantity counts. */
int tune_goal(const tuning *s);

/* Fails if so few runs could not prove that one of the candidates is better, whatever they measured. */
void tune_check_runs(const tuning *s);
void tune_judge(tuning *s);

void tune_text(output *o, const tuning *s);
void tune_json(output *o, const tuning *s);
