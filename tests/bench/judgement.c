/* judgement.c - which numbers are doubted, and which are not; made-up ones, as no CPU slows down on command */
#include "harness.h"

#include "cli/bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { CPUS = 2, RUNS = 7, POINTS = 5 };

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    CHECK(memory != NULL, "no memory");
    return memory;
}

static const workload any = {
    .name = "any", .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_LOAD, .higher_is_better = true};

/* A flawless study: as many threads as CPUs, which they had all the time. */
static study *trusted(void)
{
    static const char *const variables[] = {"LD_PRELOAD", "GLIBC_TUNABLES", "PAWL_DEBUG",
                                            "PAWL_NO_MEMBARRIER"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    study *s = allocate(1, sizeof *s);
    *s = (study){.workload = &any, .machine.cpus = CPUS, .runs = RUNS};
    s->base = (bench_request){.policy = PAWL_WAIT_SPIN,
                              .duration_ns = 1000000000,
                              .load = {.cs = 1, .ncs = 100, .ncs_random = true}};
    for (int i = 0; i < POINTS; i++) {
        point *p = add_point(s, &(subject){.name = "lock", .waiting = BENCH_BY_POLICY}, CPUS);
        p->median = 100, p->q1 = 99, p->q3 = 101;
        for (int r = 0; r < RUNS; r++)
            p->samples[r].run =
                (bench_run){.value = 100, .fairness = 0.99, .cpu_s = CPUS, .step_ns = 1 + 0.01 * (r % 3)};
    }
    return s;
}

#define FOR_RUNS(p, member, value)                                                                           \
    for (int run_ = 0; run_ < RUNS; run_++)                                                                  \
    (p)->samples[run_].run.member = (value)

static size_t doubted_points(const study *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->point_count; i++)
        count += s->points[i].doubts.count > 0;
    return count;
}

/* The third point, and nothing else, is doubted for this reason alone. */
static void check_only_the_third(study *s, const char *reason)
{
    judge(s);
    const doubts *d = &s->points[2].doubts;
    CHECK(d->count == 1 && strstr(d->text[0], reason) != NULL, "%zu doubts, %s", d->count,
          d->count > 0 ? d->text[0] : "");
    CHECK(doubted_points(s) == 1 && s->doubts.count == 0, "others are doubted");
}

static void check_trusted(study *s)
{
    judge(s);
    for (size_t i = 0; i < s->point_count; i++)
        for (size_t d = 0; d < s->points[i].doubts.count; d++)
            fail("point %zu: %s", i, s->points[i].doubts.text[d]);
    CHECK(s->doubts.count == 0, "%s", s->doubts.text[0]);
}

static void a_quiet_machine_is_trusted(const lock_info *lock)
{
    (void)lock;
    check_trusted(trusted());
}

static void more_spinning_threads_than_cpus_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->points[2].request.threads = CPUS + 1;
    check_only_the_third(s, "3 threads spin on 2 CPUs");
    s = trusted();
    s->points[2].request.threads = CPUS + 1;
    s->points[2].waiting = BENCH_SLEEPS;
    check_trusted(s);
    s = trusted();
    s->base.policy = PAWL_WAIT_PARK;
    s->points[2].request.threads = CPUS + 1;
    s->points[2].waiting = BENCH_SPINS; /* whatever the policy */
    check_only_the_third(s, "3 threads spin on 2 CPUs");
}

static void other_programs_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    FOR_RUNS(&s->points[2], others_cpus, 0.5);
    check_only_the_third(s, "other programs used 25 % of the CPUs");
    s = trusted();
    FOR_RUNS(&s->points[2], others_cpus, 0.15);
    check_trusted(s);
    s = trusted();
    FOR_RUNS(&s->points[2], others_cpus, -1); /* where /proc does not say, the CPU time does */
    FOR_RUNS(&s->points[2], cpu_s, 1);
    check_only_the_third(s, "the threads got only 50 % of the CPU time");
}

/* The load that was asked for takes CPUs from threads that spin. */
static void a_load_that_was_asked_for_is_no_doubt(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->points[2].request.beside = 2;
    FOR_RUNS(&s->points[2], cpu_s, 1);
    check_trusted(s);
    s = trusted();
    s->points[2].request.beside = 2;
    FOR_RUNS(&s->points[2], others_cpus, 0.5); /* beyond it */
    check_only_the_third(s, "other programs used 25 % of the CPUs");
}

static void threads_that_are_not_to_run_are_no_doubt(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->points[1].request.period_ns = 1000000; /* one of the two */
    s->points[2].request.places = 64;         /* both, now and then */
    FOR_RUNS(&s->points[1], cpu_s, 1);
    FOR_RUNS(&s->points[2], cpu_s, 0.5);
    check_trusted(s);
    s = trusted();
    s->points[2].request.period_ns = 1000000;
    FOR_RUNS(&s->points[2], cpu_s, 0.5);
    check_only_the_third(s, "the threads got only 50 % of the CPU time");
}

static void changes_of_speed_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    FOR_RUNS(&s->points[2], step_ns, 1.2);
    check_only_the_third(s, "% slower than for most points");
    s = trusted();
    FOR_RUNS(&s->points[2], step_ns, 0.8);
    check_only_the_third(s, "% faster than for most points");
}

/* All points alike, so that none of them stands out. */
static void changes_of_speed_between_rounds_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    for (int i = 0; i < POINTS; i++)
        for (int r = 4; r < RUNS; r++)
            s->points[i].samples[r].run.step_ns = 1.25;
    judge(s);
    CHECK(doubted_points(s) == 0 && s->doubts.count == 1, "%zu doubts", s->doubts.count);
    CHECK(strstr(s->doubts.text[0], "25 % slower in one round") != NULL, "%s", s->doubts.text[0]);
}

static void runs_that_disagree_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->points[2].q1 = 80, s->points[2].q3 = 120;
    check_only_the_third(s, "the middle half of them spans 40 %");
}

static void what_was_too_short_is_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->points[2].median = s->points[2].q1 = 0;
    check_only_the_third(s, "nothing was done at all");
    s = trusted();
    s->base.duration_ns = 5000000;
    judge(s);
    CHECK(doubted_points(s) == 0 && s->doubts.count == 1, "%zu doubts", s->doubts.count);
    CHECK(strstr(s->doubts.text[0], "runs of 5 ms") != NULL, "%s", s->doubts.text[0]);
}

/* Hapax, appendix B. */
static void schedules_that_repeat_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    FOR_RUNS(&s->points[2], fairness, 0.99995);
    check_trusted(s); /* two threads may well take turns */
    s = trusted();
    s->machine.cpus = 4;
    for (int i = 0; i < POINTS; i++) {
        s->points[i].request.threads = 4;
        s->points[i].request.load.ncs_random = false;
        FOR_RUNS(&s->points[i], cpu_s, 4);
    }
    FOR_RUNS(&s->points[2], fairness, 0.99995);
    check_only_the_third(s, "equally often");
    s->points[2].doubts.count = 0;
    s->points[2].request.load.ncs_random = true;
    check_trusted(s);
}

static void empty_non_critical_sections_are_doubted(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    s->base.load.ncs = 0;
    judge(s);
    CHECK(s->doubts.count == 1 && strstr(s->doubts.text[0], "non-critical section") != NULL, "%zu doubts",
          s->doubts.count);
    s = trusted();
    s->base.load.ncs = 0;
    s->base.load.ncs_ns = 100;
    check_trusted(s);
    s = trusted();
    s->base.load.ncs = 0;
    for (int i = 0; i < POINTS; i++) {
        s->points[i].request.threads = 1; /* nobody to hand over to */
        FOR_RUNS(&s->points[i], cpu_s, 1);
    }
    check_trusted(s);
}

static void what_the_environment_changes_is_said(const lock_info *lock)
{
    (void)lock;
    study *s = trusted();
    setenv("PAWL_DEBUG", "0", 1);
    setenv("LD_PRELOAD", "", 1);
    check_trusted(s);
    setenv("PAWL_DEBUG", "continue", 1);
    setenv("PAWL_NO_MEMBARRIER", "1", 1);
    judge(s);
    CHECK(s->doubts.count == 2 && strstr(s->doubts.text[0], "PAWL_DEBUG was set") != NULL, "%zu doubts",
          s->doubts.count);
}

static const promise promises[] = {
    {"a_quiet_machine_is_trusted", a_quiet_machine_is_trusted, NULL, "judge"},
    {"more_spinning_threads_than_cpus_are_doubted", more_spinning_threads_than_cpus_are_doubted, NULL,
     "judge"},
    {"other_programs_are_doubted", other_programs_are_doubted, NULL, "judge"},
    {"a_load_that_was_asked_for_is_no_doubt", a_load_that_was_asked_for_is_no_doubt, NULL, "judge"},
    {"threads_that_are_not_to_run_are_no_doubt", threads_that_are_not_to_run_are_no_doubt, NULL, "judge"},
    {"changes_of_speed_are_doubted", changes_of_speed_are_doubted, NULL, "judge"},
    {"changes_of_speed_between_rounds_are_doubted", changes_of_speed_between_rounds_are_doubted, NULL,
     "judge"},
    {"runs_that_disagree_are_doubted", runs_that_disagree_are_doubted, NULL, "judge"},
    {"what_was_too_short_is_doubted", what_was_too_short_is_doubted, NULL, "judge"},
    {"schedules_that_repeat_are_doubted", schedules_that_repeat_are_doubted, NULL, "judge"},
    {"empty_non_critical_sections_are_doubted", empty_non_critical_sections_are_doubted, NULL, "judge"},
    {"what_the_environment_changes_is_said", what_the_environment_changes_is_said, NULL, "judge"},
};

HARNESS_MAIN(promises)
