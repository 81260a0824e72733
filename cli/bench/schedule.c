/* schedule.c - `pawl bench schedule`: the order in which a lock admits threads */
#include "bench.h"

#include "cli/grid.h"

static const char *const bypass_names[BENCH_BYPASSES] = {"0",    "1",     "2",     "3-4",         "5-8",
                                                         "9-16", "17-32", "33-64", "more than 64"};

/* ---- text */

static void add_share(grid *g, double share)
{
    if (share < 0)
        grid_add(g, "-");
    else
        grid_add(g, "%.1f %%", 100 * share);
}

/* The longest gap of any thread, in any run. */
static double longest_gap(const study *s, const point *p)
{
    double longest = 0;
    for (unsigned r = 0; r < s->runs; r++)
        for (unsigned i = 0; i < p->samples[r].run.waits_of_threads; i++)
            longest = p->samples[r].waits[i].max > longest ? p->samples[r].waits[i].max : longest;
    return longest;
}

static void add_order(grid *g, const study *s, const point *p)
{
    double period = POINT_MEDIAN(p, s->runs, schedule.period);
    grid_add(g, "%u", p->request.threads);
    grid_add(g, "%s", p->lock);
    grid_add(g, "%.3f", p->median / 1e6);
    if (period > 0)
        grid_add(g, "%.0f", period);
    else
        grid_add(g, "-");
    add_share(g, POINT_MEDIAN(p, s->runs, schedule.repeats));
    add_share(g, POINT_MEDIAN(p, s->runs, schedule.palindromes));
    grid_add(g, "%.2f", POINT_MEDIAN(p, s->runs, schedule.bypass_mean));
    grid_add(g, "%.0f", POINT_WORST(p, s->runs, schedule.bypass_most));
    grid_add(g, "%.0f", POINT_WORST(p, s->runs, schedule.bypass_each));
    grid_add(g, "%.0f", longest_gap(s, p));
}

static void print_order(FILE *f, const study *s)
{
    static const char *const heads[] = {"threads",     "lock", "M/s",  "period", "repeats",
                                        "palindromes", "mean", "most", "by one", "longest gap"};
    grid g = grid_new("rlrrrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        grid_add(&g, "%s", heads[i]);
    for (size_t i = 0; i < s->point_count; i++)
        add_order(&g, s, &s->points[i]);
    grid_print(&g, f);
    grid_free(&g);
}

static void print_bypass(FILE *f, const study *s)
{
    grid g = grid_new("rlrrrrrrrrr");
    grid_add(&g, "threads");
    grid_add(&g, "overtaken");
    for (int k = 0; k < BENCH_BYPASSES; k++)
        grid_add(&g, "%s", bypass_names[k]);
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        grid_add(&g, "%u", p->request.threads);
        grid_add(&g, "%s", p->lock);
        for (size_t k = 0; k < BENCH_BYPASSES; k++)
            add_share(&g,
                      point_median(p, s->runs, offsetof(bench_run, schedule.bypass) + k * sizeof(double)));
    }
    grid_print(&g, f);
    grid_free(&g);
}

/* Of the first run: gaps of each thread, as far as a line goes, and the first admissions, a letter for each thread. */
static void print_threads(FILE *f, const point *p)
{
    enum { LINE = 12, LETTERS = 26, WIDTH = 96 };
    const bench_schedule *x = &p->samples[0].run.schedule;
    fprintf(f, "%s, %u thread%s: longest gaps", p->lock, p->request.threads,
            p->request.threads == 1 ? "" : "s");
    for (unsigned i = 0; i < p->request.threads && i < LINE; i++)
        fprintf(f, " %.0f", p->samples[0].waits[i].max);
    fprintf(f, "%s\n  ", p->request.threads > LINE ? " ..." : "");
    for (unsigned i = 0; i < x->shown && i < WIDTH; i++)
        fputc(x->first[i] < LETTERS ? 'A' + x->first[i] : '.', f);
    fputc('\n', f);
}

static void text(output *o, const study *s)
{
    FILE *f = o->file;
    print_head(f, s);
    print_order(f, s);
    fputs("\nperiod: after so many admissions nine of ten repeat; repeats: how many do, at best\n"
          "palindromes: changes of owner within one that has room for every thread\n"
          "mean, most, by one: how often a waiter was overtaken, by all and by one thread\n"
          "gap: admissions from one of a thread to its next\n\n",
          f);
    print_bypass(f, s);
    fputc('\n', f);
    for (size_t i = 0; i < s->point_count; i++)
        print_threads(f, &s->points[i]);
    print_doubts(f, s, "--json");
}

/* ---- JSON */

static json_t *number(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

json_t *schedule_json(const sample *x)
{
    const bench_schedule *s = &x->run.schedule;
    if (s->admissions <= 0)
        return NULL;
    json_t *bypass = json_object(), *gaps = json_array(), *first = json_array();
    for (int i = 0; i < BENCH_BYPASSES; i++)
        json_object_set_new(bypass, bypass_names[i], json_real(s->bypass[i]));
    for (unsigned i = 0; i < x->run.waits_of_threads; i++)
        json_array_append_new(gaps, json_pack("{sf sf sf}", "p50", x->waits[i].p50, "p99", x->waits[i].p99,
                                              "max", x->waits[i].max));
    for (unsigned i = 0; i < s->shown; i++)
        json_array_append_new(first, json_integer(s->first[i]));
    return json_pack("{sf so sf so sf sf sf so so so}", "admissions", s->admissions, "period",
                     s->period > 0 ? json_real(s->period) : json_null(), "repeats", s->repeats, "palindromes",
                     number(s->palindromes), "bypass_mean", s->bypass_mean, "bypass_most", s->bypass_most,
                     "bypass_each", s->bypass_each, "bypass", bypass, "gaps", gaps, "first", first);
}

static const workload schedule = {
    .name = "schedule",
    .doc = "Show the order in which a lock admits threads that do nothing but take it: after how many "
           "admissions it repeats, how much of it reads the same backwards, how often waiters are "
           "overtaken, and how long each thread does without.\vLIST is comma-separated. The first 65536 "
           "admissions of each run are recorded, by the owner, inside.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_LOAD | TAKES_PIN,
    .unit = "acquisitions/s",
    .higher_is_better = true,
    .subjects = native_subjects,
    .plan = plan_locks_and_threads,
    .parameters = load_parameters,
    .describe = load_describe,
    .text = text,
};

int schedule_main(int argc, char **argv)
{
    return workload_main(&schedule, argc, argv);
}
