/* options.c - the options that workloads have in common, in groups; each workload takes the groups that make sense */
#include "bench.h"

#include "bench/topology.h"

#include "cli/parse.h"

#include <stdlib.h>
#include <string.h>

enum {  MOST_RUNS = 1000, MOST_BESIDE = 1024 };

static const char *subject_name(const void *subjects, size_t i)
{
    return ((const subject *)subjects)[i].name;
}

/* Lists overlap ("glibc,peers"), and no other tool accepts a point that is there twice. */
static void add_lock(study *s, const subject *lock)
{
    for (size_t i = 0; i < s->lock_count; i++)
        if (s->locks[i] == lock)
            return;
    s->locks = realloc(s->locks, (s->lock_count + 1) * sizeof *s->locks);
    if (s->locks == NULL)
        fail("out of memory");
    s->locks[s->lock_count++] = lock;
}

static _Noreturn void refuse_lock(const study *s, const char *name, const subject *all, size_t count)
{
    const char *why = s->workload->refusal != NULL ? s->workload->refusal(name) : NULL;
    if (why != NULL)
        fail("--lock '%s': %s", name, why);
    fail("--lock '%s': no such lock%s", name, did_you_mean(name, subject_name, all, count));
}

static void lock_item(const char *item, void *input)
{
    study *s = input;
    size_t count;
    bool found = false;
    const subject *all = s->workload->subjects(&count);
    const char *name = strcmp(item, "pthread") == 0 ? BENCH_LIBC : item;
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, "all") == 0 || strcmp(name, all[i].name) == 0 ||
            (strcmp(name, "peers") == 0 && all[i].peer) ||
            (strcmp(name, "blocking") == 0 && all[i].peer && all[i].waiting == BENCH_SLEEPS)) {
            add_lock(s, &all[i]);
            found = true;
        }
    if (!found)
        refuse_lock(s, item, all, count);
}

unsigned *append_number(unsigned *numbers, size_t *count, unsigned number)
{
    for (size_t i = 0; i < *count; i++)
        if (numbers[i] == number)
            return numbers;
    numbers = realloc(numbers, (*count + 1) * sizeof *numbers);
    if (numbers == NULL)
        fail("out of memory");
    numbers[(*count)++] = number;
    return numbers;
}

static unsigned least_threads(const study *s)
{
    return s->workload->least_threads > 0 ? s->workload->least_threads : 1;
}

static void threads_item(const char *item, void *input)
{
    study *s = input;
    s->threads = append_number(s->threads, &s->thread_counts,
                               (unsigned)parse_number("--threads", item, least_threads(s), bench_setting.most_threads));
}

static const struct {
    const char *name;
    bench_pin_policy policy;
} pins[] = {
    {"free", BENCH_FREE}, {"compact", BENCH_COMPACT}, {"scatter", BENCH_SCATTER}, {"numa", BENCH_NUMA}};

enum { PINS = sizeof pins / sizeof pins[0] };

static const char node_prefix[] = "node=";

static bench_pin_policy find_pin(const char *text)
{
    for (int i = 0; i < PINS; i++)
        if (strcmp(text, pins[i].name) == 0)
            return pins[i].policy;
    if (strncmp(text, node_prefix, strlen(node_prefix)) != 0)
        fail("--pin '%s': must be free, compact, scatter, numa or node=N", text);
    return BENCH_NODE;
}

static void take_pin(study *s, const char *text)
{
    s->base.pin = (bench_pin){.policy = find_pin(text)};
    if (!bench_pin_works(s->base.pin.policy))
        fail("--pin '%s': takes hwloc, and this pawl was built without", text);
    if (s->base.pin.policy != BENCH_NODE)
        return;
    unsigned nodes = bench_count(BENCH_NODES);
    s->base.pin.node =
        (unsigned)parse_number("--pin node=", text + strlen(node_prefix), 0, nodes > 1 ? nodes - 1 : 0);
}

const char *pin_name(const bench_pin *pin, char *room, size_t size)
{
    for (int i = 0; i < PINS; i++)
        if (pins[i].policy == pin->policy)
            return pins[i].name;
    if (pin->policy == BENCH_CPUS)
        return "cpus";
    snprintf(room, size, "node=%u", pin->node);
    return room;
}

static void take_format(study *s, format wanted)
{
    if (s->format != TEXT && s->format != wanted)
        fail("--json and --csv: cannot be used together");
    s->format = wanted;
}

enum { WAIT = 0x200, PIN, WARM_UP, BESIDE, UNITS, SHARD, MERGE };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    study *s = state->input;
    switch (key) {
    case 'l':
        s->lock_count = 0;
        parse_list("--lock", argument, lock_item, s);
        return 0;
    case 't':
        s->thread_counts = 0;
        parse_list("--threads", argument, threads_item, s);
        return 0;
    case WAIT:
        s->base.policy = parse_policy("--wait", argument);
        return 0;
    case PIN:
        take_pin(s, argument);
        return 0;
    case 'd':
        s->base.duration_ns = parse_duration("--duration", argument);
        return 0;
    case WARM_UP:
        s->base.warm_up_ns = parse_duration("--warm-up", argument);
        return 0;
    case BESIDE:
        s->base.beside = (unsigned)parse_number("--load", argument, 0, MOST_BESIDE);
        return 0;
    case 'r':
        s->runs = (unsigned)parse_number("--runs", argument, 1, MOST_RUNS);
        return 0;
    case 'j':
        take_format(s, JSON);
        return 0;
    case 'c':
        take_format(s, CSV);
        return 0;
    case 'o':
        s->output = argument;
        return 0;
    case UNITS:
        s->units = true;
        return 0;
    case SHARD:
        s->shard = argument;
        return 0;
    case MERGE:
        s->merge = true;
        return 0;
    case ARGP_KEY_ARG:
        s->files = realloc(s->files, (s->file_count + 1) * sizeof *s->files);
        if (s->files == NULL)
            fail("out of memory");
        s->files[s->file_count++] = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option lock_options[] = {
    {"lock", 'l', "LIST", 0,
     "Locks; 'all', 'peers' for those of other libraries, or 'blocking' for the peers that sleep (default: "
     "all; of a grid, pawl_mutex and blocking)",
     0},
    {"wait", WAIT, "POLICY", 0, "How threads wait: spin, yield or park (default: PAWL_WAIT, or park)", 0},
    {0},
};

static const struct argp_option thread_options[] = {
    {"threads", 't', "LIST", 0, "Numbers of threads (default: powers of two up to four for each CPU)", 0},
    {0},
};

static const struct argp_option pin_options[] = {
    {"pin", PIN, "POLICY", 0, "Where threads run: free (default), compact, scatter, numa, or node=N", 0},
    {0},
};

static const struct argp_option run_options[] = {
    {"duration", 'd', "TIME", 0, "Measured time of one run, such as 100ms (default 250ms; of a grid, 400ms)",
     0},
    {"warm-up", WARM_UP, "TIME", 0, "Time before that (default: a tenth, 5ms to 100ms)", 0},
    {"load", BESIDE, "N", 0, "Busy threads of another program meanwhile (default 0)", 0},
    {"runs", 'r', "N", 0, "Runs, each in a process of its own, of which the median counts (default 7)", 0},
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"csv", 'c', NULL, 0, "Write CSV, a line for each run", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"units", UNITS, NULL, 0, "List the units that can be measured apart: the loads", 0},
    {"shard", SHARD, "K/N", 0, "Measure the Kth of N parts of them, and write JSON", 0},
    {"merge", MERGE, NULL, 0, "Join the JSON of all parts, in the files that are the arguments", 0},
    {0},
};

static const struct argp lock_argp = {.options = lock_options, .parser = parse};
static const struct argp thread_argp = {.options = thread_options, .parser = parse};
static const struct argp pin_argp = {.options = pin_options, .parser = parse};
static const struct argp run_argp = {.options = run_options, .parser = parse};

static const struct {
    unsigned taken;
    const struct argp *argp;
} groups[] = {{TAKES_LOCKS, &lock_argp},
              {TAKES_THREADS, &thread_argp},
              {TAKES_LOAD, &load_argp},
              {TAKES_PIN, &pin_argp},
              {0, &run_argp}};

size_t option_groups(unsigned takes, struct argp_child *to)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if ((takes & groups[i].taken) == groups[i].taken)
            to[count++] = (struct argp_child){groups[i].argp, 0, NULL, 0};
    return count;
}

void default_options(study *s)
{
    enum { LEAST_NS = 5000000, MOST_NS = 100000000 };
    unsigned takes = s->workload->takes;
    uint64_t tenth = s->base.duration_ns / 10;
    if (s->base.warm_up_ns == 0)
        s->base.warm_up_ns = tenth < LEAST_NS ? LEAST_NS : tenth > MOST_NS ? MOST_NS : tenth;
    if ((takes & TAKES_LOCKS) != 0 && s->lock_count == 0)
        parse_list("--lock", s->workload->default_locks != NULL ? s->workload->default_locks : "all",
                   lock_item, s);
    if ((takes & TAKES_THREADS) != 0 && s->thread_counts == 0)
        for (unsigned n = least_threads(s); n <= 4 * s->machine.cpus && n <= bench_setting.most_threads; n *= 2)
            s->threads = append_number(s->threads, &s->thread_counts, n);
}
