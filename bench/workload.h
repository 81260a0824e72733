/* workload.h - what a measuring process can be asked to run; one file each, and a line in workloads.c */
#pragma once

#include "team.h"

/* Runs the request. It may leave as many items in `waits` (NULL at first) as the run's waits_of_threads says. */
typedef void bench_runner(const bench_request *q, bench_run *run, bench_waits **waits);

bench_runner bench_mutexbench, bench_multiwait, bench_tail, bench_ring, bench_pingpong, bench_condvar,
    bench_occasional, bench_schedule_run;

/* ring.c: names, by number, up to NULL. */
extern const char *const bench_ring_variants[];

/* workloads.c: NULL if there is none of that name. */
bench_runner *bench_runner_of(const char *workload);

/* answer.c: reads a request from standard input, runs it, and answers on standard output: the whole life of a measuring
 * process. The runner is the one given, or, if it is NULL, the one that find() knows. Returns the exit status. */
int bench_answer(bench_runner *runner, bench_runner *find(const char *workload));

/* mutexbench.c: the lock that the request names; bench_no_lock is among them. And its loop without records. */
const bench_lock *bench_lock_of(const bench_request *q);
bench_duty_of bench_work_of;

/* order.c: what a log says; gaps of each thread. 0 or ENOMEM. */
int bench_schedule_of(bench_log *log, unsigned threads, bench_schedule *s, bench_waits *gaps);

/* tail.c: what a thread recorded. If it recorded nothing, it waited all the time. */
bench_waits bench_waits_of(histogram *h, const bench_team *t);

/* mutexbench.c: bench_team_run() with that lock, and a replay of what the threads did inside. */
int bench_run_on_lock(bench_team *t, const bench_request *q, bench_duty_of *duty_of, bench_run *run);
