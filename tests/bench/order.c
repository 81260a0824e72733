/* order.c - what is said of a schedule is true of it */
#include "../harness.h"

#include "bench/workload.h"

#include <string.h>

static bench_log whole, *logged = &whole;
static bench_schedule found;
static bench_waits gaps[8];

/* Threads A, B, ... in this order, `times` times; each asked `early` admissions before it was admitted. */
static void play(const char *order, unsigned threads, int times, uint32_t early)
{
    memset(logged, 0, sizeof *logged);
    for (int i = 0; i < times; i++)
        for (const char *c = order; *c != '\0'; c++) {
            uint32_t at = logged->length++;
            logged->admissions[at] = (bench_admission){(uint32_t)(*c - 'A'), at > early ? at - early : 0};
        }
    CHECK(bench_schedule_of(logged, threads, &found, gaps) == 0, "no memory");
}

static void periods_are_found(const lock_info *none)
{
    (void)none;
    play("ABCD", 4, 100, 0);
    CHECK(found.period == 4 && found.repeats == 1 && found.admissions == 400, "ABCD: %g", found.period);
    play("ABCDCB", 4, 100, 0);
    CHECK(found.period == 6, "ABCDCB: %g", found.period);
    play("AABBABAACABCADDABCBACB", 4, 1, 0);
    CHECK(found.period == 0 && found.repeats < 0.9, "irregular: %g", found.period);
}

static void palindromes_are_found(const lock_info *none)
{
    (void)none;
    play("ABCDCB", 4, 100, 0);
    CHECK(found.palindromes == 1, "to and fro: %g", found.palindromes);
    play("ABCD", 4, 100, 0);
    CHECK(found.palindromes == 0, "round: %g", found.palindromes);
    play("AAAAAAAAAAAABBBBBBBBBBBBBCCCCCCCCCDDDDDDD", 4, 1, 0);
    CHECK(found.palindromes == 0, "in a row: %g", found.palindromes);
    play("ABCDDDCBA", 4, 1, 0);
    CHECK(found.palindromes == 1, "one: %g", found.palindromes);
    play("AB", 2, 10, 0);
    CHECK(found.palindromes < 0, "two threads");
}

static void bypass_is_counted(const lock_info *none)
{
    (void)none;
    play("ABCD", 4, 100, 4);
    CHECK(found.bypass_most == 0 && found.bypass[0] == 1, "everybody asks, and waits for three");
    /* B asks when nobody has been admitted; A comes five times, C once. */
    memset(logged, 0, sizeof *logged);
    static const bench_admission come[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {2, 4}, {1, 0}};
    memcpy(logged->admissions, come, sizeof come);
    logged->length = sizeof come / sizeof come[0];
    CHECK(bench_schedule_of(logged, 3, &found, gaps) == 0, "no memory");
    CHECK(found.bypass_most == 5 && found.bypass_each == 4, "%g, %g", found.bypass_most, found.bypass_each);
    CHECK(found.bypass[4] == 1.0 / 7 && found.bypass[0] == 6.0 / 7, "5 of 5 to 8: %g", found.bypass[4]);
}

static void gaps_are_of_each_thread(const lock_info *none)
{
    (void)none;
    play("ABACABAD", 5, 10, 0);
    CHECK(gaps[0].max == 2 && gaps[1].max == 4 && gaps[2].p50 == 8 && gaps[3].max == 8, "A, B, C, D");
    CHECK(gaps[4].max == 80, "E was never admitted");
    CHECK(found.shown == 80 && found.first[7] == 3, "the first");
    play("DBDC", 5, 10, 0);
    CHECK(found.first[0] == 0 && found.first[1] == 1 && found.first[3] == 2,
          "numbers are by first admission");
    CHECK(gaps[0].max == 2 && gaps[1].max == 4 && gaps[3].max == 40, "D, B, A");
}

static const promise promises[] = {
    {.name = "periods_are_found", .check = periods_are_found, .subject = "schedule"},
    {.name = "palindromes_are_found", .check = palindromes_are_found, .subject = "schedule"},
    {.name = "bypass_is_counted", .check = bypass_is_counted, .subject = "schedule"},
    {.name = "gaps_are_of_each_thread", .check = gaps_are_of_each_thread, .subject = "schedule"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
