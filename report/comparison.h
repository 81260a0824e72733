/* comparison.h - two results of one workload, point by point */
#pragma once

#include "results.h"
#include "statistics.h"

typedef enum verdict { SLOWER, FASTER, NO_CHANGE } verdict;

/* A point that both have. */
typedef struct change {
    const point *a, *b;
    double a_median, b_median;
    ratio speed;        /* of b to a: above 1 is faster, whatever the unit */
    double p, adjusted; /* Mann-Whitney's; and after adjust_for_many()     */
    verdict verdict;
} change;

typedef struct comparison {
    const results *a, *b;
    change *changes;
    size_t count;
    const point **only_a, **only_b;
    size_t only_a_count, only_b_count;
    size_t verdicts[NO_CHANGE + 1]; /* how many of each */
    size_t discoverable;            /* how many points must change before the test can tell any from chance */
} comparison;

/* The false discovery rate that is accepted. */
extern const double significance;

/* A change counts if it is significant and its estimate is `threshold` or more (0.05: 5 %). Fails if the two are not
 * of the same workload under the same load. */
comparison compare_results(const results *a, const results *b, double threshold);
void comparison_free(comparison *c);
