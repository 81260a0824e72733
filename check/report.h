/* report.h - what a check found, for people and for programs */
#pragma once

#include "run.h"
#include "../cli/json.h"

typedef struct report {
    output *to;
    json_t *locks; /* everything found, for JSON; NULL for text */
    json_t *stale; /* rows of survivors.c that explain nothing  */
    const check_options *options;
    bool mutate;
    uint64_t executions, cases, exhaustive,
        bad; /* bad: violations, or mutations that survived unexpectedly */
    uint64_t mutations, survivors;
    double started;
} report;

void report_begin(report *r, output *to, const check_options *o, bool mutate, bool json);
void report_add(report *r, json_t *found);
bool report_end(report *r); /* true if all is well */
