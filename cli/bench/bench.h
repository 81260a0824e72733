/* bench.h - what the workloads of `pawl bench` share
 *
 * A workload is a file in this folder, which says what it measures and with which options, a line in
 * bench.c, and a file in bench/ for the run itself. From there on all are alike: points are measured in
 * turns, each run in a process of its own, and written as a table, JSON or CSV.
 */
#pragma once

#include "cli/output.h"

#include "bench/ask.h"
#include "bench/machine.h"

#include <jansson.h>

typedef struct study study;
typedef struct workload workload;

/* One-line texts that say why a number may not mean what it seems to. */
typedef struct doubts {
    size_t count;
    char **text;
} doubts;

void doubt(doubts *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct sample {
    bench_run run;
    bench_waits *waits; /* of each thread, or NULL */
} sample;

/* A lock that can be measured, in whatever way the workload does it. */
typedef struct subject {
    const char *name;
    bool peer;
    bench_waiting waiting;
    const char *preload; /* the library that brings it, or NULL */
} subject;

/* One lock under one load. */
typedef struct point {
    const char *lock;
    bool peer;
    bench_waiting waiting;
    const char *variant;      /* or NULL */
    const workload *workload; /* of a grid's cell; NULL if it is the study's */
    bench_request request;
    bench_place place;
    sample *samples; /* as many as the study has runs */
    double median, min, max, q1, q3;
    doubts doubts;
} point;

/* Which of the common options a workload takes; --ncs is part of the load, or the workload's own. */
enum { TAKES_LOCKS = 1, TAKES_THREADS = 2, TAKES_PIN = 4, TAKES_LOAD = 8, TAKES_NCS = 16 };

struct workload {
    const char *name;
    const char *doc; /* for --help */
    unsigned takes;
    const char *unit;
    bool higher_is_better;
    bool harness;                                           /* can be run with a lock that does nothing */
    unsigned least_threads;                                 /* 0 is 1                                   */
    const char *default_locks;                              /* as --lock has them; NULL for all         */
    bench_request base;                                     /* what differs from the usual defaults     */
    const struct argp_option *options;                      /* its own, or NULL                         */
    bool (*take)(study *s, int key, char *argument);        /* one of them; false if it is another's    */
    const subject *(*subjects)(size_t *count);              /* NULL if it has no locks                  */
    const char *(*refusal)(const char *lock);               /* why it is none of these; may be NULL     */
    void (*plan)(study *s);                                 /* adds the points                          */
    void (*parameters)(const bench_request *q, json_t *to); /* what its own options said; may be NULL */
    void (*describe)(const bench_request *q, FILE *to);     /* the same in a few words; may be NULL   */
    void (*text)(output *o, const study *s);                /* NULL for the usual table                 */
    void (*done)(void);                                     /* after the measurement; may be NULL       */
};

typedef enum format { TEXT, JSON, CSV } format;

struct study {
    const workload *workload;
    machine machine;
    /* The options. */
    const subject **locks;
    size_t lock_count;
    unsigned *threads;
    size_t thread_counts;
    const char *preset;
    bench_request base; /* of every point */
    unsigned runs;
    format format;
    const char *output;
    unsigned *ratios; /* tail's */
    size_t ratio_count;
    unsigned variants; /* a bit for each that is wanted */
    bool units, merge;
    const char *shard; /* or NULL */
    uint64_t part, parts,
        units_of_all; /* what it says, and how many units there are; 0: the study is whole */
    char **files;     /* to merge */
    size_t file_count;
    /* The results. */
    json_t *published; /* what a paper says of them, or NULL */
    point *points;
    size_t point_count;
    bool harness_known;
    double harness_ns;
    doubts doubts;
};

/* What differs between the programs that have workloads, `pawl bench` and `pawl sim`; each defines its own. */
typedef struct setting {
    const struct argp *options; /* more of them, or NULL */
    unsigned runs, most_threads;
    uint64_t duration_ns;
    void (*begin)(study *s);                 /* the points are planned; may be NULL    */
    void (*judge)(study *s);                 /* adds doubts; may be NULL               */
    void (*text)(output *o, const study *s); /* what stands below a table; may be NULL */
} setting;

extern const setting bench_setting;

/* bench_main.c: options, measurement and output of a workload. */
int workload_main(const workload *w, int argc, char **argv);

/* The same in steps, for callers without options: defaults, measuring and judging, and cleaning up. */
void study_begin(study *s, const workload *w, uint64_t duration_ns);
void study_measure(study *s);
void study_end(study *s);

/* parts.c: keeps the points of the shard; lists the units; joins the results of all shards. */
void parts_take_shard(study *s);
void parts_list(output *o, const study *s);
void parts_merge(output *o, const study *s);

/* plan.c: a point like the base, to be changed by the caller; and the usual points, every lock with every number of
 * threads. The pointer holds until the next one is added. */
point *add_point(study *s, const subject *lock, unsigned threads);
void plan_locks_and_threads(study *s);

/* options.c */
size_t option_groups(unsigned takes, struct argp_child *groups);
void default_options(study *s);
const char *pin_name(const bench_pin *pin, char *room, size_t size);
unsigned *append_number(unsigned *numbers, size_t *count, unsigned number); /* unless it is there */

/* load.c: the options that say what threads do inside and outside, and presets of the papers. */
extern const struct argp load_argp;
void load_parameters(const bench_request *q, json_t *to);
void load_describe(const bench_request *q, FILE *to);
void ncs_describe(const bench_request *q, FILE *to);
void take_load_preset(study *s, const char *name);
void take_ncs(bench_load *load, const char *text);       /* the value of --ncs        */
void take_ncs_steps(bench_load *load, const char *text); /* where it cannot be a time */

/* measure.c: fills in the samples of all points. Fails if it cannot, and exits with EXIT_BAD_NEWS if a lock let two
 * threads in. */
void measure(study *s);
double quantile(double *values, size_t count, double part); /* sorts them */

/* measure.c: over a point's runs, of a member of bench_run; negative if there is no such number. */
double point_median(const point *p, unsigned runs, size_t offset);
double point_worst(const point *p, unsigned runs, size_t offset);
#define POINT_MEDIAN(p, runs, member) point_median(p, runs, offsetof(bench_run, member))
#define POINT_WORST(p, runs, member)  point_worst(p, runs, offsetof(bench_run, member))

/* judge.c: fills in the doubts about a study; and a line about them on standard error. */
void judge(study *s);
void warn_of(const study *s);

/* judge.c: all doubts, or the first dozen and the option that shows all. */
void print_doubts(FILE *f, const study *s, const char *option);

/* subjects.c: the locks that are inlined into loops of this program. */
const subject *native_subjects(size_t *count);

/* study_text.c, study_json.c, study_csv.c */
void study_text(output *o, const study *s);
void study_json(output *o, const study *s);
void study_csv(output *o, const study *s);

/* study_json.c: everything but the points; and the parameters of a cell, NULL if there is none. */
json_t *study_head(const study *s);
json_t *cell_json(const point *p);

/* study_json.c: per acquisition, or negative if there was none. */
double per_acquisition(const bench_run *r, double amount);

/* schedule.c: the schedule of a run, NULL if it has none. */
json_t *schedule_json(const sample *x);

/* study_text.c: what stands above a table, and cells of tables; `grid` is cli/grid.h's. */
struct grid;
void print_head(FILE *f, const study *s);
void add_time(struct grid *g, double ns);
void add_ratio(struct grid *g, double value);

/* grid_text.c */
void grid_text(output *o, const study *s);

/* progress.c: a line on standard error, if that is a terminal; cut off where the terminal ends. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* The workloads. */
extern const workload mutexbench, occasional, condvar, pingpong;
int mutexbench_main(int argc, char **argv);
int multiwait_main(int argc, char **argv);
int tail_main(int argc, char **argv);
int schedule_main(int argc, char **argv);
int occasional_main(int argc, char **argv);
int condvar_main(int argc, char **argv);
int grid_main(int argc, char **argv);
int atomic_struct_main(int argc, char **argv);
int leveldb_main(int argc, char **argv);
int ring_main(int argc, char **argv);
int pingpong_main(int argc, char **argv);
