/* instruments.c - what the benchmark computes with: generators that agree with the standard ones, and a histogram
 * as exact as it claims */
#include "harness.h"

#include "bench/generator.h"
#include "bench/histogram.h"
#include "bench/loops.h"
#include "bench/mersenne.h"

#include <stdlib.h>
#include <string.h>

/* The C++ standard, [rand.predef]: the 10000th number of a default-constructed std::mt19937. */
static void twister_is_the_standard_one(const lock_info *lock)
{
    (void)lock;
    static mersenne m;
    mersenne_seed(&m, 5489);
    mersenne_advance(&m, 9999);
    uint32_t number = mersenne_next(&m);
    CHECK(number == 4123659995u, "%u", number);
}

/* By hand, from the definition of 2018. */
static void xoroshiro_is_the_published_one(const lock_info *lock)
{
    (void)lock;
    generator g = {1, 2};
    uint64_t first = generator_next(&g), second = generator_next(&g);
    CHECK(first == 3 && second == 412333834243u, "%llu %llu", (unsigned long long)first,
          (unsigned long long)second);
}

static histogram *empty(void)
{
    histogram *h = calloc(1, sizeof *h);
    CHECK(h != NULL, "no memory");
    return h;
}

static void histogram_is_exact_to_one_percent(const lock_info *lock)
{
    (void)lock;
    generator g = generator_from(1);
    for (size_t i = 0; i < scaled(20000); i++) {
        uint64_t value = generator_next(&g) >> (25 + i % 39);
        histogram *h = empty();
        histogram_add(h, value);
        histogram_add(h, UINT64_C(1) << 39); /* so that the largest does not hide the counter's end */
        uint64_t found = histogram_quantile(h, 0.5);
        CHECK(found >= value && found <= value + value / 100, "%llu became %llu", (unsigned long long)value,
              (unsigned long long)found);
        free(h);
    }
}

static void quantiles_are_those_of_the_values(const lock_info *lock)
{
    (void)lock;
    histogram *h = empty();
    for (uint64_t i = 1; i <= 200; i++) /* each has a counter of its own */
        histogram_add(h, i);
    const struct {
        double part;
        uint64_t value;
    } expected[] = {{0, 1}, {0.5, 100}, {0.9, 180}, {0.99, 198}, {0.999, 200}, {1, 200}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        uint64_t found = histogram_quantile(h, expected[i].part);
        CHECK(found == expected[i].value, "%g: %llu", expected[i].part, (unsigned long long)found);
    }
    free(h);
}

static void the_largest_is_never_rounded(const lock_info *lock)
{
    (void)lock;
    const uint64_t values[] = {0, 255, 256, 1000001, (UINT64_C(1) << 40) - 1, UINT64_C(1) << 50};
    histogram *all = empty();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        histogram *h = empty();
        histogram_add(h, values[i]);
        CHECK(histogram_quantile(h, 1) == values[i], "%llu", (unsigned long long)values[i]);
        histogram_merge(all, h);
        free(h);
    }
    CHECK(all->total == 6 && all->most == UINT64_C(1) << 50, "merged: %llu", (unsigned long long)all->most);
    CHECK(histogram_quantile(all, 0.99) == UINT64_C(1) << 50, "beyond the counters");
    free(all);
}

/* How many steps a thread's generator took outside, a draw included; `most` if more. */
static unsigned steps_outside(bench_worker *w, generator *own, const bench_load *load, unsigned most)
{
    generator before = *own;
    static mersenne twister;
    unsigned steps = 0;
    twister = *w->twister;
    bench_outside(w, own, load);
    while (steps < most && (load->mersenne ? memcmp(&twister, w->twister, sizeof twister) != 0
                                           : memcmp(&before, own, sizeof before) != 0)) {
        generator_next(&before);
        mersenne_next(&twister);
        steps++;
    }
    return steps;
}

static void non_critical_sections_are_as_long_as_they_should_be(const lock_info *lock)
{
    (void)lock;
    enum { N = 7, DRAWS = 7000 };
    static mersenne twister;
    mersenne_seed(&twister, 1);
    bench_worker w = {.twister = &twister};
    generator own = generator_from(1);
    for (int mersenne = 0; mersenne < 2; mersenne++) {
        unsigned seen[N] = {0};
        CHECK(steps_outside(&w, &own, &(bench_load){.mersenne = mersenne}, 99) == 0, "none");
        unsigned fixed = steps_outside(&w, &own, &(bench_load){.ncs = N, .mersenne = mersenne}, 99);
        CHECK(fixed == N, "%u steps", fixed);
        for (int i = 0; i < DRAWS; i++) {
            unsigned steps = steps_outside(
                &w, &own, &(bench_load){.ncs = N, .ncs_random = true, .mersenne = mersenne}, 99);
            CHECK(steps >= 1 && steps <= N, "%u steps of [0,%d)", steps - 1, N);
            seen[steps - 1]++;
        }
        for (int i = 0; i < N; i++)
            CHECK(seen[i] > 800 && seen[i] < 1200, "%d steps: %u times of %d", i, seen[i], DRAWS);
    }
}

/* Nanoseconds of a section, by another clock than its own. */
static uint64_t section_ns(bench_shared *s, const bench_load *load)
{
    uint64_t from = pawl_nanoseconds(CLOCK_MONOTONIC);
    bench_inside_timed(s, load);
    return pawl_nanoseconds(CLOCK_MONOTONIC) - from;
}

static uint64_t gap_ns(bench_worker *w, const bench_load *load)
{
    uint64_t from = pawl_nanoseconds(CLOCK_MONOTONIC), next = 0;
    bench_outside_timed(w, &w->own, load, &next);
    return pawl_nanoseconds(CLOCK_MONOTONIC) - from;
}

/* Two clocks; those of an emulator may be a microsecond apart. */
#ifdef PAWL_TEST_EMULATED
enum { CLOCKS_DIFFER = 2000 };
#else
enum { CLOCKS_DIFFER = 200 };
#endif

/* Never shorter than asked for; and not longer either, in a run in which the thread keeps its CPU. */
static void check_takes(uint64_t wanted, uint64_t took, uint64_t *least)
{
    CHECK(took + CLOCKS_DIFFER >= wanted - wanted / 50, "%llu ns of %llu", (unsigned long long)took,
          (unsigned long long)wanted);
    *least = took < *least ? took : *least;
}

static void timed_sections_take_their_time(const lock_info *lock)
{
    (void)lock;
    enum { NS = 200000, TRIES = 100000 };
    static bench_shared s;
    s.ticks_per_ns = bench_ticks_per_ns();
    bench_worker w = {.shared = &s, .own = generator_from(1)};
    uint64_t inside = UINT64_MAX, outside = UINT64_MAX, slept = UINT64_MAX;
    for (int i = 0; i < TRIES && (inside > NS * 1.2 || outside > NS * 1.2 || i < 10); i++) {
        check_takes(NS, section_ns(&s, &(bench_load){.cs = 1, .cs_ns = NS}), &inside);
        check_takes(NS, gap_ns(&w, &(bench_load){.ncs_ns = NS}), &outside);
        check_takes(NS, gap_ns(&w, &(bench_load){.period_ns = NS}), &slept);
    }
    CHECK(inside <= NS * 1.2 && outside <= NS * 1.2, "always longer: %llu and %llu of %d ns",
          (unsigned long long)inside, (unsigned long long)outside, NS);
}

/* It would take too long until a thread keeps its CPU a thousand times, so the draws are checked, not the gaps. */
static void random_times_are_drawn_anew(const lock_info *lock)
{
    (void)lock;
    enum { NS = 1000, DRAWS = 1000 };
    static bench_shared s;
    s.ticks_per_ns = bench_ticks_per_ns();
    bench_worker w = {.shared = &s, .own = generator_from(1)};
    generator replay = w.own;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = bench_scale(generator_next(&replay) >> 32, NS);
        uint64_t took = gap_ns(&w, &(bench_load){.ncs_ns = NS, .ncs_random = true});
        CHECK(drawn < NS && 2 * took + CLOCKS_DIFFER >= drawn, "%llu ns of %llu", (unsigned long long)took,
              (unsigned long long)drawn);
        CHECK(memcmp(&replay, &w.own, sizeof replay) == 0, "not one draw for a gap");
    }
}

/* As many as the replay takes for them, of whichever generator. */
static void timed_sections_take_one_step(const lock_info *lock)
{
    (void)lock;
    static bench_shared s;
    static mersenne replay;
    s.ticks_per_ns = bench_ticks_per_ns();
    s.data = generator_from(1);
    mersenne_seed(&s.twister, 1);
    mersenne_seed(&replay, 1);
    generator once = s.data;
    generator_next(&once);
    mersenne_next(&replay);
    bench_inside_timed(&s, &(bench_load){.cs = 1, .cs_ns = 1000});
    CHECK(memcmp(&s.data, &once, sizeof once) == 0, "not one step of xoroshiro128+");
    bench_inside_timed(&s, &(bench_load){.cs = 1, .cs_ns = 1000, .mersenne = true});
    CHECK(memcmp(&s.twister, &replay, sizeof replay) == 0, "not one step of mt19937");
    CHECK(memcmp(&s.data, &once, sizeof once) == 0, "a step of both");
}

/* Periods that were missed are not made up for. */
static void a_period_that_was_missed_is_left_out(const lock_info *lock)
{
    (void)lock;
    const uint64_t period = 1000000;
    static bench_shared s;
    bench_worker w = {.shared = &s};
    uint64_t next = pawl_nanoseconds(CLOCK_MONOTONIC) - 10 * period, from = pawl_nanoseconds(CLOCK_MONOTONIC);
    bench_outside_timed(&w, &w.own, &(bench_load){.period_ns = period}, &next);
    CHECK(pawl_nanoseconds(CLOCK_MONOTONIC) - from >= period, "it did not sleep");
    uint64_t planned = next;
    bench_outside_timed(&w, &w.own, &(bench_load){.period_ns = period}, &next);
    CHECK(next >= planned + period, "less than a period after the last");
}

static const promise promises[] = {
    {"twister_is_the_standard_one", twister_is_the_standard_one, NULL, "mersenne"},
    {"xoroshiro_is_the_published_one", xoroshiro_is_the_published_one, NULL, "generator"},
    {"histogram_is_exact_to_one_percent", histogram_is_exact_to_one_percent, NULL, "histogram"},
    {"quantiles_are_those_of_the_values", quantiles_are_those_of_the_values, NULL, "histogram"},
    {"the_largest_is_never_rounded", the_largest_is_never_rounded, NULL, "histogram"},
    {"non_critical_sections_are_as_long_as_they_should_be",
     non_critical_sections_are_as_long_as_they_should_be, NULL, "load"},
    {"timed_sections_take_their_time", timed_sections_take_their_time, NULL, "load"},
    {"random_times_are_drawn_anew", random_times_are_drawn_anew, NULL, "load"},
    {"timed_sections_take_one_step", timed_sections_take_one_step, NULL, "load"},
    {"a_period_that_was_missed_is_left_out", a_period_that_was_missed_is_left_out, NULL, "load"},
};

HARNESS_MAIN(promises)
