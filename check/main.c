/* main.c - `pawl check`: every lock against C11's memory model
 *
 * A program of its own, which `pawl check` starts: the lab replaces the compiler's thread sanitizer and the
 * futex system call, and the locks in here are compiled for it.
 */
#include "parts.h"
#include "../cli/json.h"
#include "../cli/parse.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct request {
    check_options options;
    subject *subjects;
    int count;
    bool mutate, json, units, merge;
    const char *replay, *output, *shard;
    char **files; /* to merge */
    int file_count;
    int jobs;
    uint64_t budget; /* ns, 0: none */
} request;

enum {
    ALL = 0x200,
    QUICK,
    DEEP,
    THREADS,
    ITERATIONS,
    LOCKS,
    SLOTS,
    SEED,
    EXHAUSTIVE,
    BUDGET,
    REPLAY,
    MUTATE,
    JSON,
    UNITS,
    SHARD,
    MERGE
};

static const struct argp_option options[] = {
    {"all", ALL, NULL, 0, "Check every lock, the semaphore and the seqlock (the default)", 0},
    {"lock", 'l', "NAME,...", 0,
     "Check these only; 'semaphore', 'seqlock', 'mutex_shared' and 'hapax_shared' are among them", 0},
    {"scenario", 's', "NAME", 0, "Run this scenario only", 0},
    {"quick", QUICK, NULL, 0, "At most 0.7 s of CPU time for each scenario", 0},
    {"deep", DEEP, NULL, 0, "At most 45 s, with wider bounds", 0},
    {"exhaustive", EXHAUSTIVE, NULL, 0, "Go on until every execution within the bounds was seen", 0},
    {"budget", BUDGET, "TIME", 0, "CPU time for everything together, shared evenly", 0},
    {"threads", THREADS, "N", 0, "Threads in each scenario, 1 to 6", 0},
    {"iterations", ITERATIONS, "N", 0, "Acquisitions by every thread, 1 to 8", 0},
    {"locks", LOCKS, "N", 0, "Locks that threads contend for, 1 or 2", 0},
    {"slots", SLOTS, "N", 0,
     "Slots of the waiting arrays: a power of two up to 4096; 1 makes all waits collide", 0},
    {"seed", SEED, "N", 0, "Seed of the random executions and of the locks' coins", 0},
    {"mutate", MUTATE, NULL, 0, "Weaken one memory order at a time, and expect a violation for each", 0},
    {"replay", REPLAY, "TEXT", 0,
     "Run the one execution that a violation was reported with, and show its trace", 0},
    {"jobs", 'j', "N", 0, "Locks to check at a time (as many as there are CPUs)", 0},
    {"units", UNITS, NULL, 0, "List the units that can be checked apart: the locks", 0},
    {"shard", SHARD, "K/N", 0, "Check the Kth of N parts of them", 0},
    {"merge", MERGE, NULL, 0, "Join the JSON of all parts, in FILEs, and report it as one", 0},
    {"json", JSON, NULL, 0, "Write JSON", 0},
    {"output", 'o', "FILE", 0, "Write to a file instead of standard output", 0},
    {0},
};

static const char doc[] =
    "Check locks against C11's memory model.\v"
    "The locks run unchanged, on simulated threads, under a scheduler that explores which thread runs next "
    "and "
    "which of the stores that C11 allows each load returns: all executions within bounds where that is "
    "feasible, "
    "random ones beyond. Exits with 1 if a lock breaks a promise; the report then says how to see it again.";

/* The locks, and the semaphore, which is none. */
static size_t subject_count(void)
{
    return (size_t)check_lock_count + 1;
}

static const char *subject_name(const void *unused, size_t i)
{
    (void)unused;
    return i < (size_t)check_lock_count ? check_lock_at((int)i)->name : "semaphore";
}

static void add_subject(const char *name, void *input)
{
    request *r = input;
    for (size_t i = 0; i < subject_count(); i++)
        if (strcmp(subject_name(NULL, i), name) == 0) {
            const lock_info *lock = i < (size_t)check_lock_count ? check_lock_at((int)i) : NULL;
            r->subjects[r->count++] = (subject){subject_name(NULL, i), lock};
            return;
        }
    fail("--lock '%s': no such lock%s", name, did_you_mean(name, subject_name, NULL, subject_count()));
}

static void add_lock(const char *name, void *input)
{
    request *r = input;
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->subjects[i].name, name) == 0)
            return;
    add_subject(name, r);
}

static void add_all(request *r)
{
    for (size_t i = 0; i < subject_count(); i++)
        add_lock(subject_name(NULL, i), r);
}

static const char *known_scenario(const char *name)
{
    if (check_has_scenario(name))
        return name;
    fail("--scenario '%s': no such scenario", name);
}

static uint32_t parse_slots(const char *text)
{
    uint64_t slots = parse_number("--slots", text, 1, PAWL_SLOTS);
    if ((slots & (slots - 1)) != 0)
        fail("--slots '%s': must be a power of two", text);
    return (uint32_t)slots;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    check_options *o = &r->options;
    switch (key) {
    case ALL:
        add_all(r);
        return 0;
    case 'l':
        parse_list("--lock", argument, add_lock, r);
        return 0;
    case 's':
        o->scenario = known_scenario(argument);
        return 0;
    case QUICK:
        o->profile = check_quick;
        return 0;
    case DEEP:
        o->profile = check_deep;
        return 0;
    case THREADS:
        o->threads = (int)parse_number("--threads", argument, 1, LAB_MAX_THREADS - 1);
        return 0;
    case ITERATIONS:
        o->iterations = (int)parse_number("--iterations", argument, 1, 8);
        return 0;
    case LOCKS:
        o->locks = (int)parse_number("--locks", argument, 1, 2);
        return 0;
    case SLOTS:
        o->slots = parse_slots(argument);
        return 0;
    case SEED:
        o->seed = parse_number("--seed", argument, 0, UINT64_MAX);
        return 0;
    case EXHAUSTIVE:
        o->exhaustive = true;
        return 0;
    case BUDGET:
        r->budget = parse_duration("--budget", argument);
        return 0;
    case MUTATE:
        r->mutate = true;
        return 0;
    case REPLAY:
        r->replay = argument;
        return 0;
    case 'j':
        r->jobs = (int)parse_number("--jobs", argument, 1, 256);
        return 0;
    case UNITS:
        r->units = true;
        return 0;
    case SHARD:
        r->shard = argument;
        return 0;
    case MERGE:
        r->merge = true;
        return 0;
    case ARGP_KEY_ARG:
        r->files[r->file_count++] = argument;
        return 0;
    case JSON:
        r->json = true;
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {options, parse, "[FILE...]", doc, common_options, NULL, NULL};

static int count_cases(const request *r)
{
    int cases = 0;
    for (int i = 0; i < r->count; i++)
        cases += check_cases(r->subjects[i].lock, &r->options, NULL, 0);
    if (cases == 0)
        fail("--scenario '%s': does not concern %s", r->options.scenario,
             r->count == 1 ? r->subjects[0].name : "any of these locks");
    return cases;
}

/* Divides the budget among the explorations, of which several run at a time. */
static void spend_budget(request *r, int cases)
{
    double each = (double)r->budget * 1e-9 * r->jobs / cases;
    r->options.profile.seconds = each * 2 / 3;
    r->options.profile.sample_seconds = each / 3;
}

static int replay(const request *r)
{
    if (r->count != 1)
        fail("--replay '%s': needs --lock with the one lock that it is of", r->replay);
    output o;
    output_open(&o, r->output);
    check_outcome out;
    const char *error;
    if (!check_replay(r->subjects[0].lock, r->replay, o.file, &out, &error))
        fail("--replay '%s': %s", r->replay, error);
    fprintf(o.file, "%s, %s: %s%s%s\n", r->subjects[0].name, out.which.name, lab_verdict_name(out.verdict),
            out.message[0] != '\0' ? ": " : "", out.message);
    output_close(&o);
    check_outcome_free(&out);
    return out.verdict == LAB_OK ? EXIT_SUCCESS : EXIT_BAD_NEWS;
}

/* One per line, for a program that hands them out. */
static int list_units(const request *r)
{
    output o;
    output_open(&o, r->output);
    for (int i = 0; i < r->count; i++)
        fprintf(o.file, "%s\n", r->subjects[i].name);
    output_close(&o);
    return EXIT_SUCCESS;
}

static int merge(const request *r)
{
    output o;
    output_open(&o, r->output);
    int status = parts_merge(r->files, r->file_count, r->subjects, r->count, &o, r->json) ? EXIT_SUCCESS
                                                                                          : EXIT_BAD_NEWS;
    output_close(&o);
    return status;
}

static void collect(json_t *found, void *arg)
{
    report *rep = arg;
    report_add(rep, found);
}

int main(int argc, char **argv)
{
    request r = {.options = {.profile = check_standard, .seed = 1},
                 .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    r.subjects = allocate(subject_count(), sizeof *r.subjects);
    r.files = allocate((size_t)argc + 1, sizeof *r.files);
    static char name[] = "pawl check";
    if (argc > 0)
        argv[0] = name;
    parse_options(&argp, argc, argv, 0, &r);
    if (r.replay != NULL)
        return replay(&r);
    if (r.file_count > 0 && !r.merge)
        fail("'%s': only --merge takes files", r.files[0]);
    if (r.count == 0)
        add_all(&r);
    if (r.merge && (r.shard != NULL || r.units))
        fail("--merge: not together with --%s", r.units ? "units" : "shard");
    if (r.merge)
        return merge(&r);
    if (r.shard != NULL && (r.count = parts_take_shard(r.subjects, r.count, r.shard)) == 0)
        fail("--shard '%s': has no unit", r.shard);
    if (r.units)
        return list_units(&r);
    int cases = count_cases(&r);
    if (r.jobs > r.count)
        r.jobs = r.count;
    if (r.budget != 0)
        spend_budget(&r, cases);
    output_check(r.output);

    output o;
    output_open(&o, r.output);
    report rep;
    report_begin(&rep, &o, &r.options, r.mutate, r.json);
    work_on(r.subjects, r.count, &r.options, r.mutate, r.jobs, isatty(STDERR_FILENO) == 1, collect, &rep);
    int status = report_end(&rep) ? EXIT_SUCCESS : EXIT_BAD_NEWS;
    output_close(&o);
    free(r.subjects);
    free(r.files);
    return status;
}
