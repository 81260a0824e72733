/* order.c - what a log of admissions says: period, palindromes, bypass, gaps
 *
 * The owner logs itself inside. Who asks reads the length of the log before, so an entry also says who asked first,
 * unless two asked between the same two admissions. A thread that loses its CPU after it has asked, and before it has
 * reached the lock, counts as overtaken even by a lock that overtakes nobody.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

enum { LONGEST_PERIOD = 1024 };
#define REPEATS 0.9

/* ---- numbers, by first admission: the order of a lock that goes round is then ABCD, and one that goes to and fro shows */

static bool renumber(bench_log *log, unsigned threads)
{
    uint32_t next = 0, *number = malloc(threads * sizeof *number);
    if (number == NULL)
        return false;
    for (unsigned t = 0; t < threads; t++)
        number[t] = UINT32_MAX;
    for (uint32_t i = 0; i < log->length; i++) {
        uint32_t *who = &log->admissions[i].who;
        if (number[*who] == UINT32_MAX)
            number[*who] = next++;
        *who = number[*who];
    }
    free(number);
    return true;
}

/* ---- period */

static double repeats_after(const bench_log *log, uint32_t period)
{
    uint32_t same = 0, n = log->length - period;
    for (uint32_t i = 0; i < n; i++)
        same += log->admissions[i].who == log->admissions[i + period].who;
    return (double)same / n;
}

static void find_period(const bench_log *log, unsigned threads, bench_schedule *s)
{
    uint32_t most = threads < LONGEST_PERIOD / 4 ? 4 * threads : LONGEST_PERIOD;
    for (uint32_t p = 1; p <= most && p <= log->length / 2; p++) {
        double share = repeats_after(log, p);
        if (s->period == 0 && share >= REPEATS)
            s->period = p;
        s->repeats = share > s->repeats ? share : s->repeats;
    }
}

/* ---- palindromes, by Manacher's algorithm: radius[i] is how far the order reads the same in both directions from i */

typedef struct order {
    uint32_t length;
    uint32_t who[BENCH_LOGGED];
    uint32_t radius[BENCH_LOGGED];
    int32_t edges[BENCH_LOGGED + 1]; /* palindromes that begin here, less those that end */
} order;

static uint32_t grow(const order *o, int64_t left, int64_t right)
{
    uint32_t steps = 0;
    while (left >= 0 && right < o->length && o->who[left] == o->who[right])
        left--, right++, steps++;
    return steps;
}

static void find_radii(order *o)
{
    int64_t left = 0, right = -1; /* of the palindrome that reaches farthest */
    for (int64_t i = 0; i < o->length; i++) {
        int64_t known = 0;
        if (i <= right) {
            known = o->radius[left + right - i];
            known = known < right - i + 1 ? known : right - i + 1;
        }
        known += grow(o, i - known, i + known);
        o->radius[i] = (uint32_t)known;
        if (i + known - 1 > right) {
            left = i - known + 1;
            right = i + known - 1;
        }
    }
}

/* Of the changes of owner: a thread that comes several times in a row counts once, so all palindromes are odd. Those
 * count that are long enough for every thread, on the way out and back. */
static double palindromic_share(const bench_log *log, unsigned threads)
{
    uint32_t inside = 0;
    int32_t depth = 0;
    order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return -1;
    for (uint32_t i = 0; i < log->length; i++)
        if (o->length == 0 || log->admissions[i].who != o->who[o->length - 1])
            o->who[o->length++] = log->admissions[i].who;
    find_radii(o);
    for (uint32_t i = 0; i < o->length; i++)
        if (o->radius[i] >= threads) {
            o->edges[i + 1 - o->radius[i]]++;
            o->edges[i + o->radius[i]]--;
        }
    for (uint32_t i = 0; i < o->length; i++) {
        depth += o->edges[i];
        inside += depth > 0;
    }
    double share = o->length > 0 ? (double)inside / o->length : 0;
    free(o);
    return share;
}

/* ---- bypass */

static unsigned bucket_of(uint32_t overtaken)
{
    unsigned bucket = overtaken < 3 ? overtaken : 3;
    for (uint32_t upper = 4; bucket >= 3 && overtaken > upper && bucket < BENCH_BYPASSES - 1; upper *= 2)
        bucket++;
    return bucket;
}

/* Who was admitted while this one waited, but asked later. `by` has room for every thread, and is all zero. */
static void count_bypass(const bench_log *log, uint32_t at, uint32_t *by, bench_schedule *s)
{
    const bench_admission *a = log->admissions, *me = &a[at];
    uint32_t overtaken = 0;
    for (uint32_t i = me->asked; i < at; i++)
        if (a[i].asked > me->asked) {
            overtaken++;
            if (++by[a[i].who] > s->bypass_each)
                s->bypass_each = by[a[i].who];
        }
    for (uint32_t i = me->asked; i < at; i++)
        by[a[i].who] = 0;
    s->bypass_mean += (double)overtaken / log->length;
    s->bypass_most = overtaken > s->bypass_most ? overtaken : s->bypass_most;
    s->bypass[bucket_of(overtaken)]++;
}

/* ---- gaps: admissions from one of a thread to its next; the whole log, if there is no next */

static bool find_gaps(const bench_log *log, unsigned threads, bench_waits *gaps)
{
    for (unsigned t = 0; t < threads; t++) {
        histogram *h = calloc(1, sizeof *h);
        if (h == NULL)
            return false;
        for (uint32_t i = 0, last = UINT32_MAX; i < log->length; i++)
            if (log->admissions[i].who == t) {
                if (last != UINT32_MAX)
                    histogram_add(h, i - last);
                last = i;
            }
        if (h->total == 0)
            histogram_add(h, log->length);
        gaps[t] = (bench_waits){.p50 = (double)histogram_quantile(h, 0.5),
                                .p99 = (double)histogram_quantile(h, 0.99),
                                .max = (double)h->most};
        free(h);
    }
    return true;
}

int bench_schedule_of(bench_log *log, unsigned threads, bench_schedule *s, bench_waits *gaps)
{
    *s = (bench_schedule){.admissions = log->length, .palindromes = -1};
    uint32_t *by = calloc(threads, sizeof *by);
    if (by == NULL || !renumber(log, threads) || !find_gaps(log, threads, gaps))
        return ENOMEM;
    find_period(log, threads, s);
    if (threads >= 3 && log->length > 0)
        s->palindromes = palindromic_share(log, threads);
    for (uint32_t i = 0; i < log->length; i++)
        count_bypass(log, i, by, s);
    free(by);
    for (int i = 0; i < BENCH_BYPASSES && log->length > 0; i++)
        s->bypass[i] /= log->length;
    s->shown = log->length < BENCH_SHOWN ? log->length : BENCH_SHOWN;
    for (uint32_t i = 0; i < s->shown; i++)
        s->first[i] = (uint16_t)log->admissions[i].who;
    return 0;
}
