/* study_text.c - a study as a table */
#include "bench.h"

#include "cli/grid.h"
#include "cli/parse.h"

#include <stdlib.h>
#include <string.h>

#define TYPICAL(s, p, member) POINT_MEDIAN(p, (s)->runs, member)
#define WORST(s, p, member)   POINT_WORST(p, (s)->runs, member)

/* What the C library's mutex did under the same load; NULL if it was not asked for. */
static const point *reference(const study *s, const point *p)
{
    for (size_t i = 0; i < s->point_count; i++)
        if (s->points[i].request.threads == p->request.threads &&
            strcmp(s->points[i].lock, BENCH_LIBC) == 0 && s->points[i].request.variant == p->request.variant)
            return &s->points[i];
    return NULL;
}

void add_time(grid *g, double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t u = 0;
    while (ns < units[u].ns && u < sizeof units / sizeof units[0] - 1)
        u++;
    if (ns < 0)
        grid_add(g, "-");
    else
        grid_add(g, "%.*f %s", units[u].ns > 1 ? 1 : 0, ns / units[u].ns, units[u].name);
}

void add_ratio(grid *g, double value)
{
    if (value < 0)
        grid_add(g, "-");
    else
        grid_add(g, "%.2f", value);
}

/* Rates in millions, times as they are. */
static double scale(const study *s)
{
    return s->workload->higher_is_better ? 1e6 : 1;
}

/* A column is a head, and what stands in it. */
typedef struct column {
    const char *head;
    char align;
    bool (*wanted)(const study *s); /* NULL: always */
    void (*add)(grid *g, const study *s, const point *p);
} column;

static bool has_variants(const study *s)
{
    return s->points[0].variant != NULL;
}

static bool has_reference(const study *s)
{
    return reference(s, &s->points[0]) != NULL;
}

static bool has_shares(const study *s)
{
    return s->points[0].samples[0].run.fairness >= 0;
}

static bool has_times(const study *s)
{
    return s->points[0].samples[0].run.worst_wait_ns >= 0 && s->points[0].samples[0].waits == NULL;
}

static bool has_waits(const study *s)
{
    return s->points[0].samples[0].waits != NULL;
}

static bool has_rate(const study *s)
{
    return s->workload->higher_is_better;
}

static bool has_time(const study *s)
{
    return !s->workload->higher_is_better;
}

static void threads(grid *g, const study *s, const point *p)
{
    (void)s;
    grid_add(g, "%u", p->request.threads);
}

static void lock(grid *g, const study *s, const point *p)
{
    (void)s;
    grid_add(g, "%s", p->lock);
}

static void variant(grid *g, const study *s, const point *p)
{
    (void)s;
    grid_add(g, "%s", p->variant);
}

static void median(grid *g, const study *s, const point *p)
{
    grid_add(g, "%.3f", p->median / scale(s));
}

static void quartiles(grid *g, const study *s, const point *p)
{
    grid_add(g, "%.3f-%.3f", p->q1 / scale(s), p->q3 / scale(s));
}

static void ratio(grid *g, const study *s, const point *p)
{
    const point *glibc = reference(s, p);
    add_ratio(g, glibc != NULL && glibc->median > 0 ? p->median / glibc->median : -1);
}

static void cpus(grid *g, const study *s, const point *p)
{
    add_ratio(g, TYPICAL(s, p, cpu_s) * 1e9 / (double)p->request.duration_ns);
}

static void cpu_time(grid *g, const study *s, const point *p)
{
    double acquisitions = TYPICAL(s, p, acquisitions);
    add_time(g, acquisitions > 0 ? TYPICAL(s, p, cpu_s) * 1e9 / acquisitions : -1);
}

static void migrations(grid *g, const study *s, const point *p)
{
    double all = TYPICAL(s, p, migrations);
    if (all < 0)
        grid_add(g, "-");
    else
        grid_add(g, "%.0f", all * 1e9 / (double)p->request.duration_ns);
}

static void switches(grid *g, const study *s, const point *p)
{
    double all = TYPICAL(s, p, voluntary_switches) + TYPICAL(s, p, involuntary_switches);
    grid_add(g, "%.0f", all * 1e9 / (double)p->request.duration_ns);
}

/* A column of zeros would only widen the table. */
static bool has_calls(const study *s, pawl_event event)
{
    size_t offset = offsetof(bench_run, calls) + event * sizeof(double);
    for (size_t i = 0; i < s->point_count; i++)
        if (point_worst(&s->points[i], s->runs, offset) > 0)
            return true;
    return false;
}

static bool has_membarriers(const study *s)
{
    return has_calls(s, PAWL_MEMBARRIERS);
}

static bool has_futex_waits(const study *s)
{
    return has_calls(s, PAWL_FUTEX_WAITS);
}

static bool has_void_waits(const study *s)
{
    return has_calls(s, PAWL_FUTEX_WAITS_VOID);
}

static bool has_futex_wakes(const study *s)
{
    return has_calls(s, PAWL_FUTEX_WAKES);
}

static void add_calls(grid *g, double per_1000)
{
    if (per_1000 < 0)
        grid_add(g, "-");
    else if (per_1000 > 0 && per_1000 < 0.01)
        grid_add(g, "<0.01");
    else
        grid_add(g, "%.*f", per_1000 == 0 || per_1000 >= 100 ? 0 : per_1000 >= 10 ? 1 : 2, per_1000);
}

#define NUMBER_COLUMN(name, add, of, member)                                                                 \
    static void name(grid *g, const study *s, const point *p)                                                \
    {                                                                                                        \
        add(g, of(s, p, member));                                                                            \
    }

NUMBER_COLUMN(fairness, add_ratio, TYPICAL, fairness)
NUMBER_COLUMN(jain, add_ratio, TYPICAL, jain)
NUMBER_COLUMN(worst_wait, add_time, WORST, worst_wait_ns)
NUMBER_COLUMN(starvation, add_time, WORST, starvation_ns)
NUMBER_COLUMN(p50, add_time, TYPICAL, waits.p50)
NUMBER_COLUMN(p99, add_time, TYPICAL, waits.p99)
NUMBER_COLUMN(p999, add_time, TYPICAL, waits.p999)
NUMBER_COLUMN(p9999, add_time, TYPICAL, waits.p9999)
NUMBER_COLUMN(longest, add_time, WORST, waits.max)
NUMBER_COLUMN(membarriers, add_calls, TYPICAL, calls[PAWL_MEMBARRIERS])
NUMBER_COLUMN(futex_waits, add_calls, TYPICAL, calls[PAWL_FUTEX_WAITS])
NUMBER_COLUMN(void_waits, add_calls, TYPICAL, calls[PAWL_FUTEX_WAITS_VOID])
NUMBER_COLUMN(futex_wakes, add_calls, TYPICAL, calls[PAWL_FUTEX_WAKES])

static void mark(grid *g, const study *s, const point *p)
{
    (void)s;
    grid_add(g, "%s", p->doubts.count > 0 ? "?" : "");
}

static const column columns[] = {
    {"threads", 'r', NULL, threads},
    {"lock", 'l', NULL, lock},
    {"variant", 'l', has_variants, variant},
    {"M/s", 'r', has_rate, median},
    {"ns", 'r', has_time, median},
    {"quartiles", 'r', NULL, quartiles},
    {"x " BENCH_LIBC, 'r', has_reference, ratio},
    {"min/max", 'r', has_shares, fairness},
    {"Jain", 'r', has_shares, jain},
    {"worst wait", 'r', has_times, worst_wait},
    {"starved", 'r', has_times, starvation},
    {"p50", 'r', has_waits, p50},
    {"p99", 'r', has_waits, p99},
    {"p99.9", 'r', has_waits, p999},
    {"p99.99", 'r', has_waits, p9999},
    {"worst", 'r', has_waits, longest},
    {"CPUs", 'r', NULL, cpus},
    {"CPU each", 'r', NULL, cpu_time},
    {"migr/s", 'r', NULL, migrations},
    {"switches/s", 'r', NULL, switches},
    {"barriers", 'r', has_membarriers, membarriers},
    {"waits", 'r', has_futex_waits, futex_waits},
    {"void", 'r', has_void_waits, void_waits},
    {"wakes", 'r', has_futex_wakes, futex_wakes},
    {"", 'l', NULL, mark},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

void print_head(FILE *f, const study *s)
{
    const machine *m = &s->machine;
    char room[32];
    fprintf(f, "%s on %u CPU%s, %s, %s, %s, commit %s\n", s->workload->name, m->cpus, m->cpus == 1 ? "" : "s",
            m->model, m->kernel, m->compiler, m->commit[0] != '\0' ? m->commit : "unknown");
    if (s->preset != NULL)
        fprintf(f, "%s: ", s->preset);
    if (s->workload->describe != NULL) {
        s->workload->describe(&s->base, f);
        if ((s->workload->takes & (TAKES_LOAD | TAKES_NCS)) != 0)
            fprintf(f, " of %s", s->base.load.mersenne ? "mt19937" : "xoroshiro128+");
        fputs(", ", f);
    }
    if (s->base.beside > 0)
        fprintf(f, "load %u, ", s->base.beside);
    if ((s->workload->takes & TAKES_LOCKS) != 0)
        fprintf(f, "wait %s, ", policy_name((pawl_policy)s->base.policy));
    if (s->points[0].workload == NULL) /* else each cell says it */
        fprintf(f, "pin %s; ", pin_name(&s->points[0].request.pin, room, sizeof room));
    fprintf(f, "median of %u run%s of %g s\n", s->runs, s->runs == 1 ? "" : "s",
            (double)s->base.duration_ns / 1e9);
    if (s->harness_known)
        fprintf(f, "the loop itself, with one thread and a lock that does nothing: %.1f ns\n", s->harness_ns);
    if (m->no_counters != NULL)
        fprintf(f, "no performance counters here: %s\n", m->no_counters);
    else
        fprintf(f, "performance counters: --json and --csv have them\n");
    fputc('\n', f);
}

static void explain_calls(FILE *f, const study *s)
{
    if (has_membarriers(s) || has_futex_waits(s) || has_futex_wakes(s))
        fputs(
            "\nbarriers, waits, void, wakes: membarriers, futex waits, those of them that returned at once, "
            "and futex wakes\nper 1000 acquisitions of Pawl's locks; all 0 where there is no such column\n",
            f);
}

void study_text(output *o, const study *s)
{
    const column *used[COLUMNS];
    char align[COLUMNS + 1] = "";
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (columns[i].wanted == NULL || columns[i].wanted(s)) {
            align[count] = columns[i].align;
            used[count++] = &columns[i];
        }
    print_head(o->file, s);
    grid g = grid_new(align);
    for (size_t i = 0; i < count; i++)
        grid_add(&g, "%s", used[i]->head);
    for (size_t p = 0; p < s->point_count; p++)
        for (size_t i = 0; i < count; i++)
            used[i]->add(&g, s, &s->points[p]);
    grid_print(&g, o->file);
    grid_free(&g);
    explain_calls(o->file, s);
    print_doubts(o->file, s, "--json");
}
