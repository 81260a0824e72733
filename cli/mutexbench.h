/* mutexbench.h - `pawl bench mutexbench`: the papers' benchmark */
#pragma once

#include "output.h"

#include "bench/campaign.h"
#include "bench/doubts.h"
#include "bench/machine.h"

#include <pawl/wait.h>

typedef struct mutexbench {
    bench_campaign campaign;
    char ncs[32]; /* as it was asked for: "0", "100", "random:400" */
    pawl_policy policy;
    machine machine;
    bench_doubts doubts;
    const bench_result *results;
    size_t result_count;
} mutexbench;

int mutexbench_main(int argc, char **argv);

/* mutexbench_report.c */
void mutexbench_text(output *o, const mutexbench *m);
void mutexbench_json(output *o, const mutexbench *m);

/* measure.c: runs a campaign with progress on a terminal. Fails if it could not, and exits with
 * EXIT_BAD_NEWS if a lock let two threads in. The caller frees the results. */
bench_result *measure(bench_campaign *c);

/* One line on standard error for each doubt from the given one on. */
void warn_of(const bench_doubts *d, size_t from);

void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);
