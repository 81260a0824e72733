/* doubts.h - why results may not mean what they seem to */
#pragma once

#include "campaign.h"

enum { BENCH_DOUBTS = 2 };

typedef struct bench_doubts {
    size_t count;
    char text[BENCH_DOUBTS][128];
} bench_doubts;

/* Before the runs: more threads than CPUs that never give theirs away. */
void bench_doubt_spinning(bench_doubts *d, const bench_campaign *c, unsigned cpus);

/* After them: the threads did not get the CPUs, so something else had them. */
void bench_doubt_load(bench_doubts *d, const bench_campaign *c, unsigned cpus, const bench_result *results);
