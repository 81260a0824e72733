/* ask.h - a run in a process of its own */
#pragma once

#include "request.h"

/* The argument that makes `pawl bench` a measuring process; not a workload's name. */
#define BENCH_ANSWER "(answer)"

/* Where a run takes place: a program of its own, or NULL for this one; with a library that is loaded before
 * all others, or NULL. */
typedef struct bench_place {
    const char *program;
    const char *preload;
} bench_place;

/* The run's answer, with `error` set if there is none. *waits is NULL or as many as the run's
 * waits_of_threads, which the caller frees. */
bench_run bench_ask(const bench_request *q, const bench_place *place, bench_waits **waits);
