/* statistics.c - rank statistics */
#include "statistics.h"

#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double wanted_confidence = 0.95;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
}

static double median_of_sorted(const double *values, size_t count)
{
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The geometric mean of the two in the middle: what is the reciprocal of another ratio stays that. */
static double median_of_sorted_ratios(const double *values, size_t count)
{
    double low = values[(count - 1) / 2], high = values[count / 2];
    return low == high ? low : sqrt(low) * sqrt(high);
}

summary summarize(double *values, size_t count)
{
    if (count == 0)
        return (summary){NAN, NAN, NAN};
    sort(values, count);
    return (summary){median_of_sorted(values, count), values[0], values[count - 1]};
}

/* ranks[i] of value i among all, doubled so that the mean rank of two that are equal is a whole number. */
static void rank_doubled(const double *values, size_t count, size_t *ranks)
{
    for (size_t i = 0; i < count; i++) {
        ranks[i] = 1;
        for (size_t j = 0; j < count; j++)
            ranks[i] += values[j] < values[i] ? 2 : values[j] == values[i];
    }
}

/* ways[s] out of all ways to choose `chosen` of the ranks has the sum s; the sums go up to the one returned. The
 * caller frees the ways. */
static size_t count_sums(const size_t *ranks, size_t count, size_t chosen, double **ways)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += ranks[i];
    size_t width = most + 1;
    double *table = allocate((chosen + 1) * width, sizeof *table); /* [how many were chosen][their sum] */
    table[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = chosen; k > 0; k--)
            for (size_t s = most; s + 1 > ranks[i]; s--)
                table[k * width + s] += table[(k - 1) * width + s - ranks[i]];
    *ways = allocate(width, sizeof **ways);
    memcpy(*ways, &table[chosen * width], width * sizeof **ways);
    free(table);
    return most;
}

/* The share of the ways to choose whose sum is as far from the expected one as `sum`, or farther. */
static double exact_p(const size_t *ranks, size_t count, size_t chosen, size_t sum)
{
    double *ways, far = 0, all = 0;
    size_t most = count_sums(ranks, count, chosen, &ways);
    double expected = (double)most * (double)chosen / (double)count;
    double distance = fabs((double)sum - expected) - 1e-6;
    for (size_t s = 0; s <= most; s++) {
        all += ways[s];
        if (fabs((double)s - expected) >= distance)
            far += ways[s];
    }
    free(ways);
    return far / all;
}

/* With a correction for continuity and for ties. */
static double normal_p(const size_t *ranks, size_t count, size_t chosen, size_t sum)
{
    double n = (double)count, a = (double)chosen, b = n - a, squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += pow((double)ranks[i] / 2 - (n + 1) / 2, 2);
    double deviation = sqrt(a * b / (n * (n - 1)) * squares);
    double distance = fabs((double)sum / 2 - a * (n + 1) / 2) - 0.5;
    return deviation > 0 && distance > 0 ? erfc(distance / deviation / sqrt(2)) : 1;
}

double mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
    size_t count = a_count + b_count, sum = 0;
    if (a_count == 0 || b_count == 0)
        return 1;
    double *all = allocate(count, sizeof *all);
    size_t *ranks = allocate(count, sizeof *ranks);
    memcpy(all, a, a_count * sizeof *all);
    memcpy(all + a_count, b, b_count * sizeof *all);
    rank_doubled(all, count, ranks);
    for (size_t i = 0; i < a_count; i++)
        sum += ranks[i];
    double p = (count <= EXACT_RUNS ? exact_p : normal_p)(ranks, count, a_count, sum);
    free(all);
    free(ranks);
    return p;
}

/* How many of the sorted ratios to leave out at each end, and how sure the rest is. ways[u] of `all` equally probable
 * cases have a statistic of u; P(U <= u) is the probability that chance alone leaves out more than that. */
static size_t trim_by(const double *ways, double all, double *confidence)
{
    size_t trim = 0;
    double below = ways[0];
    while (2 * (below + ways[trim + 1]) / all <= 1 - wanted_confidence)
        below += ways[++trim];
    *confidence = 1 - 2 * below / all;
    return trim;
}

static size_t trim_exactly(size_t a_count, size_t b_count, double *confidence)
{
    size_t count = a_count + b_count, least = a_count * (a_count + 1) / 2;
    size_t *ranks = allocate(count, sizeof *ranks);
    for (size_t i = 0; i < count; i++)
        ranks[i] = i + 1;
    double *ways, all = 0;
    size_t most = count_sums(ranks, count, a_count, &ways);
    for (size_t s = 0; s <= most; s++)
        all += ways[s];
    size_t trim = trim_by(&ways[least], all, confidence);
    free(ways);
    free(ranks);
    return trim;
}

/* With a correction for continuity. */
static size_t trim_normal(double mean, double variance, double *confidence)
{
    double trim = mean - 1.959964 * sqrt(variance) - 0.5;
    *confidence = wanted_confidence;
    return trim > 0 ? (size_t)trim : 0;
}

static size_t trim_normally(size_t a_count, size_t b_count, double *confidence)
{
    double a = (double)a_count, b = (double)b_count;
    return trim_normal(a * b / 2, a * b * (a + b + 1) / 12, confidence);
}

/* Of pairs: the sum of the ranks of those that are above 1, any of which may be, or not. */
static size_t trim_pairs_exactly(size_t count, double *confidence)
{
    size_t most = count * (count + 1) / 2;
    double *ways = allocate(most + 1, sizeof *ways);
    ways[0] = 1;
    for (size_t rank = 1; rank <= count; rank++)
        for (size_t s = most; s >= rank; s--)
            ways[s] += ways[s - rank];
    size_t trim = trim_by(ways, exp2((double)count), confidence);
    free(ways);
    return trim;
}

static size_t trim_pairs_normally(size_t count, double *confidence)
{
    double n = (double)count;
    return trim_normal(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, confidence);
}

ratio ratio_of(const double *a, size_t a_count, const double *b, size_t b_count)
{
    ratio r = {NAN, NAN, NAN, NAN};
    size_t pairs = a_count * b_count;
    for (size_t i = 0; i < b_count; i++)
        if (b[i] == 0)
            return r;
    if (pairs == 0)
        return r;
    double *all = allocate(pairs, sizeof *all);
    for (size_t i = 0; i < pairs; i++)
        all[i] = a[i / b_count] / b[i % b_count];
    sort(all, pairs);
    bool few = a_count + b_count <= EXACT_RUNS;
    size_t trim = (few ? trim_exactly : trim_normally)(a_count, b_count, &r.confidence);
    r.estimate = median_of_sorted_ratios(all, pairs);
    r.low = all[trim];
    r.high = all[pairs - 1 - trim];
    free(all);
    return r;
}

ratio ratio_of_pairs(const double *quotients, size_t count)
{
    ratio r = {NAN, NAN, NAN, NAN};
    size_t means = 0;
    if (count == 0)
        return r;
    double *all = allocate(count * (count + 1) / 2, sizeof *all);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i; j < count; j++)
            all[means++] = sqrt(quotients[i]) * sqrt(quotients[j]);
    sort(all, means);
    size_t trim = (count <= EXACT_RUNS ? trim_pairs_exactly : trim_pairs_normally)(count, &r.confidence);
    r.estimate = median_of_sorted_ratios(all, means);
    r.low = all[trim];
    r.high = all[means - 1 - trim];
    free(all);
    return r;
}

/* Replaces each p by the adjusted value at its place among the sorted ones; equal ones are adjusted alike. Frees both. */
static void put_back(double *p, size_t count, double *sorted, double *adjusted)
{
    for (size_t i = 0; i < count; i++) {
        double *at = bsearch(&p[i], sorted, count, sizeof *sorted, by_value);
        p[i] = adjusted[at - sorted];
    }
    free(sorted);
    free(adjusted);
}

static double *sorted_copy(const double *p, size_t count)
{
    double *sorted = allocate(count, sizeof *sorted);
    if (count > 0)
        memcpy(sorted, p, count * sizeof *p);
    sort(sorted, count);
    return sorted;
}

void adjust_for_any(double *p, size_t count)
{
    double *sorted = sorted_copy(p, count), *adjusted = allocate(count, sizeof *adjusted), most = 0;
    for (size_t i = 0; i < count; i++) {
        double chance = sorted[i] * (double)(count - i);
        most = chance > most ? chance : most;
        adjusted[i] = most < 1 ? most : 1;
    }
    put_back(p, count, sorted, adjusted);
}

void adjust_for_many(double *p, size_t count)
{
    double *sorted = sorted_copy(p, count), *adjusted = allocate(count, sizeof *adjusted), least = 1;
    for (size_t i = count; i > 0; i--) {
        double rate = sorted[i - 1] * (double)count / (double)i;
        least = rate < least ? rate : least;
        adjusted[i - 1] = least;
    }
    put_back(p, count, sorted, adjusted);
}
