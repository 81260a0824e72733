/* comparison.h - two results of one workload, point by point */
#pragma once

#include "results.h"
#include "statistics.h"

typedef enum verdict { SLOWER, FASTER, NO_CHANGE, NOT_JUDGED } verdict;

/* A point that both have. */
typedef struct change {
    const point *a, *b;
    size_t a_count, b_count;   /* of what is compared: runs, or quotients with the reference's */
    double a_median, b_median; /* of that                                                     */
    ratio speed;               /* of b to a: above 1 is faster, whatever the unit              */
    double p, adjusted;        /* Mann-Whitney's; and after adjust_for_many(). NAN: not judged */
    verdict verdict;
} change;

/* Of two grids that both have the reference, what is compared is how many times as fast as it a lock was in the same
 * round. Then the reference itself is not judged, nor is a lock in whose cell its runs do not fit: they are shown as they
 * were measured. If there is no other, all are compared by their runs, as everything else is. */
typedef struct comparison {
    const results *a, *b;
    const char *reference;         /* or NULL                                                        */
    const char *useless_reference; /* both have it, but no lock can be related to it; otherwise NULL */
    bool no_reference;             /* they are grids that were measured, but do not have the same    */
    change *changes;
    size_t count;
    const point **only_a, **only_b;
    size_t only_a_count, only_b_count;
    const point **lone; /* the reference in cells where its runs changed, and most others' did not */
    size_t lone_count;
    size_t judged;                   /* how many of the changes                             */
    size_t verdicts[NOT_JUDGED + 1]; /* how many of each                                    */
    size_t unfit;                    /* not judged, and not the reference's own: how many   */
    size_t discoverable; /* how many points must change before the test can tell any from chance */
} comparison;

/* The false discovery rate that is accepted. */
extern const double significance;

/* A change counts if it is significant and its estimate is `threshold` or more (0.05: 5 %). Fails if the two are not
 * of the same workload under the same load. */
comparison compare_results(const results *a, const results *b, double threshold);
void comparison_free(comparison *c);

/* notes.c: an array of lines; a text that says of its machine, or "unknown"; and a point's load in words. */
json_t *comparison_notes(const comparison *c);
const char *machine_text(const results *r, const char *member);
void print_load(FILE *f, const point *p);
