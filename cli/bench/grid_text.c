/* grid_text.c - a grid as two lists for each lock of Pawl: where it is ahead of the others, and where it is behind */
#include "bench.h"

#include "cli/grid.h"

#include <stdlib.h>
#include <string.h>

/* A row is about throughput, or about how long the rare thread of `occasional` waits. */
typedef struct row {
    const point *ours, *glibc, *best; /* the best of the others; each may be NULL but the first */
    bool waits;
    double lead; /* over the best: from 1 on it is ahead */
} row;

static double value(const bench_run *r, bool waits)
{
    if (!waits)
        return r->value;
    return 1e9 / (r->waits.p99 > 1 ? r->waits.p99 : 1);
}

/* The median of what it is in each round, where both ran soon after one another; of itself, if there is no other. Negative
 * if the other did nothing in one of the rounds: what is left would be those in which it did best. */
static double times(const study *s, const point *p, const point *of, bool waits)
{
    double *quotients = allocate(s->runs, sizeof *quotients), median = -1;
    unsigned count = 0;
    for (; count < s->runs; count++) {
        double by = of != NULL ? value(&of->samples[count].run, waits) : 1;
        if (by <= 0)
            break;
        quotients[count] = value(&p->samples[count].run, waits) / by;
    }
    if (count == s->runs)
        median = quantile(quotients, count, 0.5);
    free(quotients);
    return median;
}

/* Points belong to one cell if they share the name itself, not just an equal string. */
static const point *in_cell(const study *s, const point *ours, const char *lock)
{
    for (size_t i = 0; i < s->point_count; i++)
        if (s->points[i].variant == ours->variant && strcmp(s->points[i].lock, lock) == 0)
            return &s->points[i];
    return NULL;
}

static bool can_be_unit(const study *s, const point *p, bool waits)
{
    return p != NULL && times(s, p, p, waits) >= 0;
}

static row row_of(const study *s, const point *ours, bool waits)
{
    row r = {.ours = ours, .glibc = in_cell(s, ours, BENCH_LIBC), .waits = waits};
    const point *unit = can_be_unit(s, r.glibc, waits) ? r.glibc : can_be_unit(s, ours, waits) ? ours : NULL;
    double mine = times(s, ours, unit, waits), most = -1;
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        if (p->variant != ours->variant || !p->peer)
            continue;
        double its = times(s, p, unit, waits);
        if (r.best == NULL || its > most) {
            r.best = p;
            most = its;
        }
    }
    /* If even the best of them did nothing, nobody is behind. */
    r.lead = most > 0 ? mine / most : 1;
    return r;
}

/* Equals in one order, whatever qsort() this is. */
static int by_lead(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = (x->lead > y->lead) - (x->lead < y->lead);
    order = order != 0 ? order : (x->ours > y->ours) - (x->ours < y->ours);
    return order != 0 ? order : x->waits - y->waits;
}

static void add_cell(grid *g, const row *r)
{
    const bench_request *q = &r->ours->request;
    grid_add(g, "%u thread%s%s, %s%s", q->threads, q->threads == 1 ? "" : "s",
             q->pin.policy == BENCH_FREE ? "" : ", pinned", r->ours->variant, r->waits ? "; its p99" : "");
}

static void add_worst(grid *g, const study *s, const point *p)
{
    add_time(g, p != NULL ? POINT_WORST(p, s->runs, worst_wait_ns) : -1);
}

static void add_multiple(grid *g, const study *s, const point *p, const row *r)
{
    add_ratio(g, p != NULL && r->glibc != NULL ? times(s, p, r->glibc, r->waits) : -1);
}

static void add_row(grid *g, const study *s, const row *r)
{
    bool doubted = r->ours->doubts.count + (r->best != NULL ? r->best->doubts.count : 0) > 0;
    add_cell(g, r);
    add_multiple(g, s, r->ours, r);
    grid_add(g, "%s", r->best != NULL ? r->best->lock : "-");
    add_multiple(g, s, r->best, r);
    add_worst(g, s, r->ours);
    add_worst(g, s, r->best);
    add_worst(g, s, r->glibc);
    grid_add(g, "%s", doubted ? "?" : "");
}

/* The rows from one index to another, in either direction. */
static void print_rows(FILE *f, const study *s, const row *rows, size_t from, size_t to)
{
    static const char *const heads[] = {"cell",       "x " BENCH_LIBC, "best other",    "x " BENCH_LIBC,
                                        "worst wait", "the other's",   BENCH_LIBC "'s", ""};
    grid g = grid_new("lrlrrrrl");
    for (size_t i = 0; i < g.columns; i++)
        grid_add(&g, "%s", heads[i]);
    for (size_t i = from; i != to; i += from < to ? 1 : (size_t)-1)
        add_row(&g, s, &rows[from < to ? i : i - 1]);
    if (from == to)
        fputs("nowhere\n", f);
    else
        grid_print(&g, f);
    grid_free(&g);
}

static void print_lock(FILE *f, const study *s, const char *lock)
{
    row *rows = allocate(2 * s->point_count, sizeof *rows);
    size_t count = 0, behind = 0;
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        if (strcmp(p->lock, lock) != 0)
            continue;
        rows[count++] = row_of(s, p, false);
        if (p->workload == &occasional)
            rows[count++] = row_of(s, p, true);
    }
    qsort(rows, count, sizeof *rows, by_lead);
    while (behind < count && rows[behind].best != NULL && rows[behind].lead < 1)
        behind++;
    fprintf(f, "%s is ahead of all others, most of all first, in %zu:\n", lock, count - behind);
    print_rows(f, s, rows, count, behind);
    fprintf(f, "\n%s is behind, most of all first, in %zu:\n", lock, behind);
    print_rows(f, s, rows, 0, behind);
    free(rows);
}

void grid_text(output *o, const study *s)
{
    print_head(o->file, s);
    bool any = false;
    for (size_t l = 0; l < s->lock_count; l++)
        if (!s->locks[l]->peer) {
            fputs(any ? "\n" : "", o->file);
            print_lock(o->file, s, s->locks[l]->name);
            any = true;
        }
    if (!any)
        fputs("no lock of Pawl was measured; --json has the others\n", o->file);
    fputs("\nx " BENCH_LIBC ": times as many operations as " BENCH_LIBC
          "'s mutex in the same round, the median; or, of the waits of a thread\n"
          "that asks seldom, their 99th percentile as many times shorter; - if " BENCH_LIBC
          "'s did nothing in one. The worst\n"
          "wait is that of all runs; of a queue none is timed.\n",
          o->file);
    print_doubts(o->file, s, "--json");
}
