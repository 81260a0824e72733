/* schedule.h - the order in which threads were admitted, in a few numbers
 *
 * Numbers that a schedule does not have are negative.
 */
#pragma once

#include <stdint.h>

enum { BENCH_BYPASSES = 9, BENCH_SHOWN = 128 };

typedef struct bench_schedule {
    double admissions; /* that were recorded; 0: this is no run of `schedule`                            */
    double period;     /* the least that nine of ten admissions repeat after; 0: there is none            */
    double repeats;    /* share of admissions that repeat after a period, at best                         */
    double
        palindromes; /* share of the changes of owner within a palindrome with room for all threads, if three at least */
    double bypass_mean, bypass_most, bypass_each; /* overtaken while it waited: by all, by one thread       */
    double bypass[BENCH_BYPASSES];                /* share of admissions that were overtaken 0, 1, 2, 3-4,
                                                     5-8, 9-16, 17-32, 33-64 times, and more often          */
    uint32_t shown;
    uint16_t first[BENCH_SHOWN]; /* who was admitted first */
} bench_schedule;
