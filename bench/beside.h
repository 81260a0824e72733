/* beside.h - the load that was asked for: busy threads of another process, for as long as a run takes */
#pragma once

#include <sys/types.h>
#include <time.h>

typedef struct bench_beside {
    pid_t process;      /* 0 if there is none */
    clockid_t cpu_time; /* its own            */
} bench_beside;

/* Starts that many busy threads. Returns 0 or an errno value. Their process ends with this one. */
int bench_beside_start(bench_beside *b, unsigned threads);

/* Returns 0, or an errno value if the load was not there all the time. */
int bench_beside_stop(bench_beside *b);

/* Nanoseconds of CPU time that it has had. */
double bench_beside_ns(const bench_beside *b);
