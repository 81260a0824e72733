/* statistics.h - medians, and what few runs can say about a difference
 *
 * Runs of a lock are not normally distributed: a run is slowed down by whatever gets in its way, and never sped up. So
 * everything here goes by ranks. It is exact for up to EXACT_RUNS runs together, more than is usually measured, and
 * uses the normal approximation beyond that.
 */
#pragma once

#include <stddef.h>

enum { EXACT_RUNS = 60 };

/* Summary of the runs of a quantity. NANs if there are none. */
typedef struct summary {
    double median, min, max;
} summary;

/* Sorts the values. */
summary summarize(double *values, size_t count);

/* Mann-Whitney's U test, two-sided: how probable it is that values drawn from one distribution differ in rank as
 * much as these or more. Ties count half. */
double mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* How many times b the values a are: the median of all ratios of an a to a b (Hodges and Lehmann's estimate, for
 * logarithms), and the interval that belongs to Mann-Whitney's test. NANs if a b is 0. If no a is either, exchanging the
 * sides gives the reciprocal. */
typedef struct ratio {
    double estimate, low, high;
    double confidence; /* of the interval: at least 0.95, or the most that so few runs can give */
} ratio;

ratio ratio_of(const double *a, size_t a_count, const double *b, size_t b_count);

/* The same of runs in pairs, given their quotients, which are from 0 on and finite: the median of the geometric means of
 * any two of them, also of each with itself (again Hodges and Lehmann's), and the interval that belongs to Wilcoxon's
 * signed rank test. NANs if there are none. */
ratio ratio_of_pairs(const double *quotients, size_t count);

/* Holm: replaces each p by the least probability of any false alarm among all of them at which it would be found. */
void adjust_for_any(double *p, size_t count);

/* Benjamini and Hochberg: replaces each p by the least false discovery rate at which it would be found. */
void adjust_for_many(double *p, size_t count);
