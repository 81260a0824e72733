/* judge.c - why results may not mean what they seem to
 *
 * Each rule is about a way in which lock benchmarks have misled. The limits are generous, so that every
 * doubt is worth reading.
 */
#include "bench.h"

#include <pawl/detail/wait.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double foreign = 0.10; /* of all CPUs, used by other programs          */
static const double drift = 0.05;   /* of the CPUs' speed, from the study's median   */
static const double spread = 0.30;  /* between the quartiles, of the median         */
static const double brief = 0.02;   /* seconds: /proc counts in ticks of 0.01        */

void doubt(doubts *d, const char *format, ...)
{
    d->text = realloc(d->text, (d->count + 1) * sizeof *d->text);
    va_list arguments;
    va_start(arguments, format);
    if (d->text == NULL || vasprintf(&d->text[d->count++], format, arguments) < 0)
        fail("out of memory");
    va_end(arguments);
}

static bool spins(const study *s, const point *p)
{
    return p->waiting == BENCH_SPINS || (p->waiting == BENCH_BY_POLICY && s->base.policy == PAWL_WAIT_SPIN);
}

static bool spins_in_vain(const study *s, const point *p)
{
    return spins(s, p) && p->request.threads > s->machine.cpus;
}

/* Threads that spin are always running, unless something else is, or they are not meant to: the rare thread of
 * `occasional`, those that wait for an item, and those that share the CPUs with a load. */
static double own_share(const study *s, const point *p)
{
    const bench_request *q = &p->request;
    unsigned threads = q->threads - (q->period_ns != 0);
    unsigned cpus = threads < s->machine.cpus ? threads : s->machine.cpus;
    if (q->beside > 0 || q->places > 0)
        return 1;
    return POINT_MEDIAN(p, s->runs, cpu_s) * 1e9 / ((double)cpus * (double)p->request.duration_ns);
}

/* A schedule that repeats serves everybody equally often, more exactly than chance would. */
static bool cycles(const study *s, const point *p)
{
    const bench_load *load = &p->request.load;
    return p->request.threads > 2 && !load->ncs_random && POINT_MEDIAN(p, s->runs, fairness) > 0.9999;
}

static void judge_point(study *s, point *p, double step_ns)
{
    unsigned threads = p->request.threads, cpus = s->machine.cpus;
    if (spins_in_vain(s, p))
        doubt(&p->doubts, "%u threads spin on %u CPU%s: this measures the scheduler, not the lock", threads,
              cpus, cpus == 1 ? "" : "s");
    double others = POINT_MEDIAN(p, s->runs, others_cpus);
    if (others > foreign * cpus)
        doubt(&p->doubts, "other programs used %.0f %% of the CPUs",
              100 * (others < cpus ? others / cpus : 1));
    else if (spins(s, p) && own_share(s, p) < 1 - 2 * foreign)
        doubt(&p->doubts, "the threads got only %.0f %% of the CPU time: other programs were running",
              100 * own_share(s, p));
    double pace = POINT_MEDIAN(p, s->runs, step_ns) / step_ns - 1;
    if (pace > drift || pace < -drift)
        doubt(&p->doubts, "the CPUs were %.0f %% %s than for most points", 100 * (pace > 0 ? pace : -pace),
              pace > 0 ? "slower" : "faster");
    if (p->median <= 0)
        doubt(&p->doubts, "in half of the runs nothing was done at all");
    if (p->median > 0 && (p->q3 - p->q1) / p->median > spread)
        doubt(&p->doubts, "the runs disagree: the middle half of them spans %.0f %% of the median",
              100 * (p->q3 - p->q1) / p->median);
    if (cycles(s, p))
        doubt(&p->doubts,
              "all threads were served equally often to 1 in 10000: one order of admission held throughout, "
              "and another might be faster or slower");
}

/* What holds for every point is said once. */
static void judge_load(study *s)
{
    const bench_load *load = &s->base.load;
    double seconds = (double)s->base.duration_ns / 1e9;
    bool contended = false;
    if (seconds < brief)
        doubt(&s->doubts, "in runs of %g ms other programs go unnoticed", 1e3 * seconds);
    for (size_t i = 0; i < s->point_count; i++)
        contended |= s->points[i].request.threads > 1;
    if ((s->workload->takes & (TAKES_LOAD | TAKES_NCS)) != 0 && contended && load->ncs == 0 &&
        load->ncs_ns == 0)
        doubt(&s->doubts,
              "an empty non-critical section favours locks that write their own line on release: it is still "
              "there when the thread arrives again");
}

static double usual_step_ns(const study *s)
{
    double *values = allocate(s->point_count, sizeof *values);
    for (size_t i = 0; i < s->point_count; i++)
        values[i] = POINT_MEDIAN(&s->points[i], s->runs, step_ns);
    double median = quantile(values, s->point_count, 0.5);
    free(values);
    return median;
}

static double step_ns_of_round(const study *s, unsigned round)
{
    double *values = allocate(s->point_count, sizeof *values);
    for (size_t i = 0; i < s->point_count; i++)
        values[i] = s->points[i].samples[round].run.step_ns;
    double median = quantile(values, s->point_count, 0.5);
    free(values);
    return median;
}

/* All points take their turn in every round, so CPUs that change their speed from round to round affect all alike,
 * and no single point shows it. */
static void judge_rounds(study *s)
{
    double fastest = step_ns_of_round(s, 0), slowest = fastest;
    for (unsigned round = 1; round < s->runs; round++) {
        double step_ns = step_ns_of_round(s, round);
        fastest = step_ns < fastest ? step_ns : fastest;
        slowest = step_ns > slowest ? step_ns : slowest;
    }
    if (slowest > fastest * (1 + 2 * drift))
        doubt(&s->doubts, "the CPUs were %.0f %% slower in one round of runs than in another",
              100 * (slowest / fastest - 1));
}

/* Whoever sets one of these knows what it does, but whoever reads the result may not. */
static void judge_environment(study *s)
{
    static const struct {
        const char *name, *without; /* the value that is as good as none, or NULL */
        const char *effect;
    } variables[] = {
        {"LD_PRELOAD", "", "its libraries were loaded into all that was measured"},
        {"GLIBC_TUNABLES", "", "glibc's locks may not be what they are elsewhere"},
        {"PAWL_DEBUG", "0", "what is not inlined was watched, and slowed down by it"},
        {"PAWL_NO_MEMBARRIER", NULL, "every unlock paid for a fence"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name), *without = variables[i].without;
        if (value != NULL && (without == NULL || strcmp(value, without) != 0))
            doubt(&s->doubts, "%s was set: %s", variables[i].name, variables[i].effect);
    }
}

void judge(study *s)
{
    double step_ns = usual_step_ns(s);
    for (size_t i = 0; i < s->point_count; i++)
        judge_point(s, &s->points[i], step_ns);
    judge_rounds(s);
    judge_load(s);
    judge_environment(s);
}

/* Points share most of their doubts; the table marks them, and this says how many have one. */
void warn_of(const study *s)
{
    size_t doubted = 0;
    const char *first = NULL;
    for (size_t i = 0; i < s->point_count; i++)
        if (s->points[i].doubts.count > 0) {
            first = first != NULL ? first : s->points[i].doubts.text[0];
            doubted++;
        }
    if (doubted > 0)
        fprintf(stderr, "pawl: warning: %zu of %zu points are in doubt: %s%s\n", doubted, s->point_count,
                first, doubted > 1 ? ", and so on" : "");
}

static void print_doubt(FILE *f, const point *p, const char *text)
{
    unsigned threads = p->request.threads;
    fprintf(f, "? %s%s%s, %u thread%s: %s\n", p->lock, p->variant != NULL ? " " : "",
            p->variant != NULL ? p->variant : "", threads, threads == 1 ? "" : "s", text);
}

/* A large study has more doubts than anyone reads; JSON has them all. */
void print_doubts(FILE *f, const study *s, const char *option)
{
    enum { SHOWN = 12 };
    size_t count = 0;
    for (size_t i = 0; i < s->doubts.count; i++)
        fprintf(f, "%snote: %s\n", i == 0 ? "\n" : "", s->doubts.text[i]);
    for (size_t i = 0; i < s->point_count; i++)
        for (size_t d = 0; d < s->points[i].doubts.count; d++)
            if (count++ < SHOWN) {
                fputs(count == 1 ? "\n" : "", f);
                print_doubt(f, &s->points[i], s->points[i].doubts.text[d]);
            }
    if (count > SHOWN)
        fprintf(f, "? and %zu more, which %s lists\n", count - SHOWN, option);
}
