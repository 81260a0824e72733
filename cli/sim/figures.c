/* figures.c - `pawl sim figures`: the papers' MutexBench figures, on models of their machines */
#include "published.h"
#include "sim.h"

#include "cli/grid.h"
#include "cli/parse.h"

#include "sim/answer.h"

#include <pawl/policy.h>

#include <stdlib.h>
#include <string.h>

static const char hapax_locks[] = "mcs,clh,hemlock,ticket,twa,reciprocating,tidex,hapax,hapax_vw";
static const char reciprocating_locks[] = "mcs,clh,hemlock,ticket,twa,reciprocating";
static const char hemlock_locks[] = "mcs,clh,ticket,hemlock,hemlock_naive";
static const char capacitors_locks[] = "tts,capacitor_tts,lifo,capacitor_lifo,ticket,mcs";

typedef struct figure {
    const char *name, *machine, *preset, *locks;
} figure;

static const figure figures[] = {
    {"hapax-3a", "altra", "hapax-fig3-max", hapax_locks},
    {"hapax-3b", "altra", "hapax-fig3-moderate", hapax_locks},
    {"hapax-3c", "epyc-9754", "hapax-fig3-max", hapax_locks},
    {"hapax-3d", "epyc-9754", "hapax-fig3-moderate", hapax_locks},
    {"reciprocating-1a", "x5-2", "reciprocating-fig1a", reciprocating_locks},
    {"reciprocating-1b", "x5-2", "reciprocating-fig1b", reciprocating_locks},
    {"reciprocating-1c", "altra", "reciprocating-fig1a", reciprocating_locks},
    {"reciprocating-1d", "altra", "reciprocating-fig1b", reciprocating_locks},
    {"hemlock-2", "x5-2", "hemlock-fig2", hemlock_locks},
    {"hemlock-3", "x5-2", "hemlock-fig3", hemlock_locks},
    {"hemlock-4", "t7-2", "hemlock-fig2", hemlock_locks},
    {"hemlock-5", "t7-2", "hemlock-fig3", hemlock_locks},
    {"hemlock-6", "epyc-7662", "hemlock-fig2", hemlock_locks},
    {"hemlock-7", "epyc-7662", "hemlock-fig3", hemlock_locks},
    {"capacitors-1", "altra", "capacitors-fig1", capacitors_locks},
};

enum { FIGURES = sizeof figures / sizeof figures[0], DURATION_NS = 1000000 };

typedef struct wish {
    bool wanted[FIGURES], some;
    const char *folder; /* NULL: tables on standard output */
    unsigned most;      /* threads                         */
    bool units;         /* list them, and do nothing else  */
    const char *shard;  /* NULL: all of them               */
} wish;

static const char *figure_name(const void *all, size_t i)
{
    return ((const figure *)all)[i].name;
}

static void figure_item(const char *item, void *input)
{
    wish *w = input;
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(item, figures[i].name) == 0) {
            w->wanted[i] = w->some = true;
            return;
        }
    fail("--figure '%s': no such figure%s", item, did_you_mean(item, figure_name, figures, FIGURES));
}

/* ---- one figure */

static void add_locks(const char *item, void *input)
{
    study *s = input;
    add_point(s, simulated_subject(item), s->base.threads);
}

/* Powers of two, and last all CPUs. */
static unsigned more(unsigned threads, unsigned cpus)
{
    return threads == cpus ? cpus + 1 : 2 * threads < cpus ? 2 * threads : cpus;
}

static void plan(study *s, const figure *f, unsigned most)
{
    unsigned cpus = s->machine.cpus;
    for (unsigned threads = 1; threads <= cpus && threads <= most; threads = more(threads, cpus)) {
        s->base.threads = threads;
        parse_list("--lock", f->locks, add_locks, s);
    }
}

static void simulate(study *s, const workload *w, const figure *f, unsigned most)
{
    load_machine(f->machine);
    study_begin(s, w, DURATION_NS);
    take_load_preset(s, f->preset);
    s->base.policy = PAWL_WAIT_SPIN;
    s->base.warm_up_ns = DURATION_NS;
    plan(s, f, most);
    measure(s);
    bench_setting.judge(s);
}

/* A line for each number of threads, a column for each lock. */
static void table(output *o, const study *s, const figure *f)
{
    size_t locks = 0;
    while (locks < s->point_count && s->points[locks].request.threads == s->points[0].request.threads)
        locks++;
    char *align = allocate(locks + 2, 1);
    memset(align, 'r', locks + 1);
    grid g = grid_new(align);
    grid_add(&g, "threads");
    for (size_t i = 0; i < locks; i++)
        grid_add(&g, "%s", s->points[i].lock);
    for (size_t i = 0; i < s->point_count; i++) {
        if (i % locks == 0)
            grid_add(&g, "%u", s->points[i].request.threads);
        double published = published_rate(f->name, s->points[i].lock, s->points[i].request.threads);
        if (published > 0)
            grid_add(&g, "%.2f (%.2f)", s->points[i].median / 1e6, published);
        else
            grid_add(&g, "%.2f", s->points[i].median / 1e6);
    }
    fprintf(o->file, "%s on %s, simulated: M acquisitions/s\n\n", f->name, f->machine);
    grid_print(&g, o->file);
    fputc('\n', o->file);
    grid_free(&g);
    free(align);
    published_text(o, f->name, s);
}

static void write_figure(const figure *f, const wish *w)
{
    workload plain = mutexbench;
    plain.harness = false;
    study s = {.runs = 1};
    simulate(&s, &plain, f, w->most);
    char *path = NULL;
    if (w->folder != NULL && asprintf(&path, "%s/%s.json", w->folder, f->name) < 0)
        fail("out of memory");
    output o;
    output_open(&o, path);
    s.published = published_json(f->name, &s);
    if (path != NULL)
        study_json(&o, &s);
    else
        table(&o, &s, f);
    json_decref(s.published);
    output_close(&o);
    study_end(&s);
    free(path);
}

/* ---- the command */

/* Leaves every Nth of the wanted ones. */
static void take_shard(wish *w)
{
    uint64_t part = 1, parts = 1, number = 0;
    bool some = false;
    if (w->shard != NULL)
        parse_shard("--shard", w->shard, &part, &parts);
    for (int i = 0; i < FIGURES; i++) {
        bool wanted = w->wanted[i] || !w->some;
        w->wanted[i] = wanted && number++ % parts == part - 1;
        some |= w->wanted[i];
    }
    if (!some)
        fail("--shard '%s': has no unit", w->shard);
}

enum { UNITS = 0x300, SHARD };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    wish *w = state->input;
    switch (key) {
    case 'f':
        parse_list("--figure", argument, figure_item, w);
        return 0;
    case 'o':
        w->folder = argument;
        return 0;
    case 't':
        w->most = (unsigned)parse_number("--most-threads", argument, 1, 1024);
        return 0;
    case UNITS:
        w->units = true;
        return 0;
    case SHARD:
        w->shard = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"figure", 'f', "LIST", 0, "Figures, such as hemlock-2 (default: all, which takes minutes)", 0},
    {"most-threads", 't', "N", 0, "Not more threads than this (default: as many as the machine has CPUs)", 0},
    {"output", 'o', "FOLDER", 0, "Write a file for each figure, for pawl report, instead of tables", 0},
    {"units", UNITS, NULL, 0, "List the units that can be simulated apart: the figures", 0},
    {"shard", SHARD, "K/N", 0, "Simulate the Kth of N parts of them", 0},
    {0},
};

int figures_main(int argc, char **argv)
{
    wish w = {.most = 1024};
    struct argp argp = {.options = options,
                        .parser = parse,
                        .doc = "Simulate the papers' MutexBench figures, up to the thread counts of their "
                               "machines, beside what the "
                               "papers say of them.",
                        .children = common_options};
    parse_options(&argp, argc, argv, 0, &w);
    take_shard(&w);
    for (int i = 0; i < FIGURES; i++) {
        if (w.wanted[i] && w.units)
            puts(figures[i].name);
        else if (w.wanted[i])
            write_figure(&figures[i], &w);
    }
    return EXIT_SUCCESS;
}
