/* tail.c - `pawl bench tail`: how long the waits are, with more and more threads for each CPU */
#include "bench.h"

#include "cli/parse.h"

enum { RATIOS = 0x400, MOST_RATIO = 256 };

static const struct argp_option options[] = {
    {"oversubscription", RATIOS, "LIST", 0,
     "Threads for each CPU (default those of 1,2,8,32 that make no more threads than there may be)", 0},
    {0},
};

static void ratio_item(const char *item, void *input)
{
    study *s = input;
    s->ratios = append_number(s->ratios, &s->ratio_count,
                              (unsigned)parse_number("--oversubscription", item, 1, MOST_RATIO));
}

static bool take(study *s, int key, char *argument)
{
    if (key != RATIOS)
        return false;
    s->ratio_count = 0;
    parse_list("--oversubscription", argument, ratio_item, s);
    return true;
}

/* By default, those of 1, 2, 8 and 32 that make no more threads than there may be. */
static void take_default(study *s)
{
    parse_list("--oversubscription", "1,2,8,32", ratio_item, s);
    while (s->ratio_count > 1 && s->ratios[s->ratio_count - 1] * s->machine.cpus > bench_setting.most_threads)
        s->ratio_count--;
}

static void plan(study *s)
{
    if (s->ratio_count == 0)
        take_default(s);
    for (size_t r = 0; r < s->ratio_count; r++) {
        if (s->ratios[r] * s->machine.cpus > bench_setting.most_threads)
            fail("--oversubscription '%u': makes %u threads, of at most %u", s->ratios[r],
                 s->ratios[r] * s->machine.cpus, bench_setting.most_threads);
        for (size_t l = 0; l < s->lock_count; l++) {
            char *variant;
            if (asprintf(&variant, "oversubscription %u", s->ratios[r]) < 0)
                fail("out of memory");
            add_point(s, s->locks[l], s->ratios[r] * s->machine.cpus)->variant = variant;
        }
    }
}

static const workload tail = {
    .name = "tail",
    .doc = "Measure how long threads wait for a lock: every acquisition is timed and counted in a histogram "
           "that is exact "
           "to 1 %, for all threads and for each.\vLIST is comma-separated.",
    .takes = TAKES_LOCKS | TAKES_LOAD | TAKES_PIN,
    .unit = "acquisitions/s",
    .higher_is_better = true,
    .harness = true,
    .options = options,
    .take = take,
    .subjects = native_subjects,
    .plan = plan,
    .parameters = load_parameters,
    .describe = load_describe,
};

int tail_main(int argc, char **argv)
{
    return workload_main(&tail, argc, argv);
}
