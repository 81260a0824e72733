/* team.h - some threads that do the same for a while, watched */
#pragma once

#include "surroundings.h"

typedef struct bench_team {
    bench_shared *shared;
    bench_worker *workers;
    uint64_t *from, *to; /* counts of each worker at both ends of the measured time */
    double ns, ns_per_tick;
    bench_events *events; /* NULL if no lock of Pawl is measured */
} bench_team;

/* Memory for the threads of a request, all-zero but for what every workload wants. NULL if there is none. */
bench_team *bench_team_new(const bench_request *q);

/* What the `index`th thread does until the phase is BENCH_STOP. */
typedef void (*bench_duty)(bench_worker *w);
typedef bench_duty bench_duty_of(const bench_request *q, unsigned index);

/* Starts the threads, waits for the warm-up and the measured time, and stops them. Fills in everything of the run but
 * `value`, which is the number of all acquisitions per second until the workload says otherwise. 0 or an errno value;
 * then threads may be left waiting for a start that never comes, and the process is expected to end. */
int bench_team_run(bench_team *t, const bench_request *q, bench_duty_of *duty_of, bench_run *run);

/* What the threads from `first` up to, but without, `end` did: acquisitions per second, shares and times. Returns the
 * number of acquisitions. */
double bench_team_shares(const bench_team *t, unsigned first, unsigned end, bench_run *run);

/* Acquisitions of one thread in the measured time. */
static inline double bench_team_count(const bench_team *t, unsigned index)
{
    return (double)(t->to[index] - t->from[index]);
}

void *bench_sector_alloc(size_t bytes);
