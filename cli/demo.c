/* demo.c - `pawl demo`: what pawl_mutex is for, and every lock on this machine, in less than a minute */
#include "cli.h"
#include "grid.h"
#include "names.h"
#include "parse.h"

#include "cli/bench/bench.h"

#include "bench/pairs.h"

#include "src/register.h"

#include <stdlib.h>
#include <string.h>

/* About half a minute for the register and its peers, most of it for the sweep. */
enum { RUNS = 3, RUN_NS = 40000000, ROUNDS = 7, PAIRS = 200000, CROWD = 4 };

/* The story needs longer runs, or glibc's longest wait is only as long as a run. */
enum { STORY_NS = 400000000, STORY_CROWD = 8 };

typedef struct request {
    const char *output;
    const char *report; /* PREFIX, or NULL */
} request;

enum { REPORT = 0x200 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'o':
        r->output = argument;
        return 0;
    case REPORT:
        r->report = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"report", REPORT, "PREFIX", 0,
     "Also write PREFIX.json, PREFIX-pingpong.json, and PREFIX.html, the report of both", 0},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .doc = "Measure every lock on this machine, in less than a minute.",
                                 .children = common_options};

/* Median nanoseconds of an uncontended pair, for each lock; the rounds are interleaved as all runs are. */
static double *time_pairs(const bench_lock *const *locks, size_t count)
{
    double *samples = allocate(count * ROUNDS, sizeof *samples);
    double *medians = allocate(count, sizeof *medians);
    for (size_t round = 0; round < ROUNDS; round++) {
        progress_show("%3zu %%  uncontended", 100 * round / ROUNDS);
        for (size_t i = 0; i < count; i++)
            if (bench_time_pairs(locks[i], PAIRS, &samples[i * ROUNDS + round]) != 0)
                fail("%s: cannot create a thread", locks[i]->name);
    }
    for (size_t i = 0; i < count; i++)
        medians[i] = quantile(&samples[i * ROUNDS], ROUNDS, 0.5);
    progress_clear();
    free(samples);
    return medians;
}

static void add_contended(grid *g, const point *p)
{
    double fairness[RUNS];
    for (int r = 0; r < RUNS; r++)
        fairness[r] = p->samples[r].run.fairness;
    grid_add(g, "%.2f", p->median / 1e6);
    grid_add(g, "%.2f", quantile(fairness, RUNS, 0.5));
}

static bool doubted(const study *s, size_t at)
{
    size_t count = 0;
    for (size_t t = 0; t < s->thread_counts; t++)
        count += s->points[at + t * s->lock_count].doubts.count;
    return count > 0;
}

/* A lock has one point for each number of threads: one, as many as CPUs if there are more, and a crowd. */
static void add_row(grid *g, const study *s, size_t at, const bench_lock *lock, double ns_per_pair)
{
    const lock_info *info = lock_find(lock->name); /* NULL for another library's */
    grid_add(g, "%s", lock->name);
    grid_add(g, "%zu", lock->size);
    grid_add(g, "%.1f", ns_per_pair);
    for (size_t t = 1; t < s->thread_counts; t++)
        add_contended(g, &s->points[at + t * s->lock_count]);
    grid_add(g, "%s", order_name(info != NULL ? info->order : PAWL_NONE));
    grid_add(g, "%s", doubted(s, at) ? "?" : "");
}

static void print(output *o, const study *s, const bench_lock *const *locks, const double *pairs)
{
    const machine *m = &s->machine;
    fprintf(o->file, "%u CPU%s, %s, %s, %s, wait %s\n\n", m->cpus, m->cpus == 1 ? "" : "s", m->model,
            m->kernel, m->compiler, policy_name(pawl_get_wait()));
    grid g = grid_new(s->thread_counts > 2 ? "lrrrrrrll" : "lrrrrll");
    grid_add(&g, "lock");
    grid_add(&g, "bytes");
    grid_add(&g, "ns/pair");
    for (size_t t = 1; t < s->thread_counts; t++) {
        grid_add(&g, "M/s(%u)", s->threads[t]);
        grid_add(&g, "fair(%u)", s->threads[t]);
    }
    grid_add(&g, "order");
    grid_add(&g, "%s", "");
    for (size_t i = 0; i < s->lock_count; i++)
        add_row(&g, s, i, locks[i], pairs[i]);
    grid_print(&g, o->file);
    grid_free(&g);
    fprintf(o->file,
            "\nns/pair: an uncontended lock and unlock. M/s(N): million acquisitions per second by N threads "
            "that do"
            "\nnothing else. fair(N): fewest acquisitions of a thread over most. order: who enters next.\n");
    print_doubts(o->file, s, "--report");
}

/* ---- the story: the C library's mutex and ours, with more threads than CPUs */

static const subject *subject_called(const char *name)
{
    size_t count;
    const subject *all = native_subjects(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail("%s: no such lock", name);
}

static double longest_wait(const point *p)
{
    double longest = 0;
    for (int r = 0; r < RUNS; r++)
        longest = p->samples[r].run.worst_wait_ns > longest ? p->samples[r].run.worst_wait_ns : longest;
    return longest;
}

static void measure_story(study *s)
{
    const char *const names[] = {BENCH_LIBC, "pawl_mutex"};
    study_begin(s, &mutexbench, STORY_NS);
    s->lock_count = sizeof names / sizeof names[0];
    s->locks = allocate(s->lock_count, sizeof *s->locks);
    for (size_t i = 0; i < s->lock_count; i++)
        s->locks[i] = subject_called(names[i]);
    s->threads = append_number(s->threads, &s->thread_counts, STORY_CROWD * s->machine.cpus);
    take_ncs(&s->base.load, "random:400");
    default_options(s);
    study_measure(s);
}

static void tell_story(output *o, const study *s)
{
    fprintf(o->file,
            "%u threads on %u CPU%s share one mutex, with a little work of their own in between:\n"
            "\n",
            s->threads[0], s->machine.cpus, s->machine.cpus == 1 ? "" : "s");
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        fprintf(o->file, "    %-10s  %6.2f million acquisitions per second; the longest wait took %6.1f ms\n",
                p->lock, p->median / 1e6, longest_wait(p) / 1e6);
    }
    fprintf(o->file, "\n");
}

static char *path_of(const char *prefix, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%s%s", prefix, suffix) < 0)
        fail("out of memory");
    return path;
}

static void write_json(const study *s, const char *path)
{
    output o;
    output_open(&o, path);
    study_json(&o, s);
    output_close(&o);
}

/* What a hand-over is compared with; one CPU has none. */
static bool write_pingpong(const char *path, unsigned cpus)
{
    if (cpus < 2)
        return false;
    study s = {.runs = RUNS};
    study_begin(&s, &pingpong, RUN_NS);
    default_options(&s);
    study_measure(&s);
    write_json(&s, path);
    study_end(&s);
    return true;
}

static void write_report(const study *s, const char *prefix)
{
    char *json = path_of(prefix, ".json"), *line = path_of(prefix, "-pingpong.json"),
         *page = path_of(prefix, ".html");
    write_json(s, json);
    bool paired = write_pingpong(line, s->machine.cpus);
    char *arguments[] = {"pawl report", "-o", page, json, paired ? line : NULL, NULL};
    report_main(paired ? 5 : 4, arguments);
    printf("\nreport: %s\n", page);
    free(json);
    free(line);
    free(page);
}

/* Before the measurement, not after it. */
static void check_report(const char *prefix)
{
    static const char *const suffixes[] = {".json", "-pingpong.json", ".html"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *path = path_of(prefix, suffixes[i]);
        output_check_as("--report", path);
        free(path);
    }
}

int demo_main(int argc, char **argv)
{
    request r = {0};
    parse_options(&argp, argc, argv, 0, &r);
    check_environment();
    output_check(r.output);
    if (r.report != NULL)
        check_report(r.report);
    size_t count;
    const bench_lock *const *locks = bench_locks(&count);
    study story = {.runs = RUNS};
    measure_story(&story);
    double *pairs = time_pairs(locks, count);
    study s = {.runs = RUNS};
    study_begin(&s, &mutexbench, RUN_NS);
    const unsigned threads[] = {1, s.machine.cpus, CROWD * s.machine.cpus};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        s.threads = append_number(s.threads, &s.thread_counts, threads[i]);
    default_options(&s);
    study_measure(&s);
    output o;
    output_open(&o, r.output);
    tell_story(&o, &story);
    print(&o, &s, locks, pairs);
    output_close(&o);
    if (r.report != NULL)
        write_report(&s, r.report);
    free(pairs);
    study_end(&story);
    study_end(&s);
    return EXIT_SUCCESS;
}
