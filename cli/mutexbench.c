/* mutexbench.c - the options of `pawl bench mutexbench` */
#include "mutexbench.h"
#include "parse.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4096, MOST_RUNS = 1000, MOST_STEPS = 1000000 };

typedef struct request {
    mutexbench m;
    const bench_lock **locks;
    unsigned *threads;
    bool json;
    const char *output;
} request;

static const char *lock_name(const void *locks, size_t i)
{
    return ((const bench_lock *)locks)[i].name;
}

static void add_lock(request *r, const bench_lock *lock)
{
    size_t n = r->m.campaign.lock_count++;
    r->locks = realloc(r->locks, (n + 1) * sizeof *r->locks);
    if (r->locks == NULL)
        fail("out of memory");
    r->locks[n] = lock;
}

static void lock_item(const char *item, void *input)
{
    const bench_lock *lock = bench_lock_find(item);
    if (lock != NULL)
        add_lock(input, lock);
    else if (strcmp(item, "all") == 0)
        for (size_t i = 0; i < bench_lock_count; i++)
            add_lock(input, &bench_locks[i]);
    else
        fail("--lock '%s': no such lock%s", item,
             did_you_mean(item, lock_name, bench_locks, bench_lock_count));
}

static void threads_item(const char *item, void *input)
{
    request *r = input;
    size_t n = r->m.campaign.thread_counts++;
    r->threads = realloc(r->threads, (n + 1) * sizeof *r->threads);
    if (r->threads == NULL)
        fail("out of memory");
    r->threads[n] = (unsigned)parse_number("--threads", item, 1, MOST_THREADS);
}

static void take_ncs(request *r, const char *text)
{
    static const char prefix[] = "random:";
    bench_load *load = &r->m.campaign.load;
    load->ncs_random = strncmp(text, prefix, strlen(prefix)) == 0;
    const char *number = load->ncs_random ? text + strlen(prefix) : text;
    load->ncs =
        parse_number(load->ncs_random ? "--ncs random:" : "--ncs", number, load->ncs_random, MOST_STEPS);
    snprintf(r->m.ncs, sizeof r->m.ncs, "%s%u", load->ncs_random ? prefix : "", (unsigned)load->ncs);
}

enum { CS = 0x200, NCS, DURATION, RUNS, WAIT };

static const struct argp_option options[] = {
    {"lock", 'l', "LIST", 0, "Locks, or 'all' (default); 'pawl_mutex' and 'pawl_fairmutex' are among them, 'pthread' is glibc's mutex", 0},
    {"threads", 't', "LIST", 0, "Numbers of threads (default: the number of CPUs)", 0},
    {"ncs", NCS, "N|random:N", 0,
     "Steps between two acquisitions: N, or each time another number in [0,N) (default 0)", 0},
    {"cs", CS, "N", 0, "Steps of the shared generator while the lock is held (default 1)", 0},
    {"duration", 'd', "TIME", 0, "Measured time of one run, such as 500ms (default 1s)", 0},
    {"runs", 'r', "N", 0, "Runs, of which the median counts (default 3)", 0},
    {"wait", WAIT, "POLICY", 0, "How threads wait: spin, yield or park (default: PAWL_WAIT, or park)", 0},
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    bench_campaign *c = &r->m.campaign;
    switch (key) {
    case 'l':
        c->lock_count = 0;
        parse_list("--lock", argument, lock_item, r);
        return 0;
    case 't':
        c->thread_counts = 0;
        parse_list("--threads", argument, threads_item, r);
        return 0;
    case NCS:
        take_ncs(r, argument);
        return 0;
    case CS:
        c->load.cs = parse_number("--cs", argument, 1, MOST_STEPS);
        return 0;
    case 'd':
        c->duration_ns = parse_duration("--duration", argument);
        return 0;
    case 'r':
        c->runs = (unsigned)parse_number("--runs", argument, 1, MOST_RUNS);
        return 0;
    case WAIT:
        r->m.policy = parse_policy("--wait", argument);
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc =
        "Measure how often threads that do nothing else can take one lock, how evenly they get it, and how "
        "long they wait for it.\vLIST is comma-separated. A step is one of a xoroshiro128+ generator. The "
        "one that the lock protects is replayed afterwards: a lock that let two threads in at once is "
        "reported, and the exit status is 1.",
    .children = common_options};

static void set_defaults(request *r)
{
    bench_campaign *c = &r->m.campaign;
    if (c->lock_count == 0)
        lock_item("all", r);
    if (c->thread_counts == 0) {
        char cpus[16];
        snprintf(cpus, sizeof cpus, "%u",
                 r->m.machine.cpus < MOST_THREADS ? r->m.machine.cpus : MOST_THREADS);
        threads_item(cpus, r);
    }
    c->locks = r->locks;
    c->threads = r->threads;
}

int mutexbench_main(int argc, char **argv)
{
    request r = {.m = {.campaign = {.load = {.cs = 1}, .duration_ns = 1000000000, .runs = 3},
                       .ncs = "0",
                       .policy = pawl_get_wait(),
                       .machine = machine_here()}};
    parse_options(&argp, argc, argv, 0, &r);
    check_environment();
    output_check(r.output);
    set_defaults(&r);
    pawl_set_wait(r.m.policy);
    bench_doubt_spinning(&r.m.doubts, &r.m.campaign, r.m.machine.cpus);
    warn_of(&r.m.doubts, 0);
    size_t known = r.m.doubts.count;
    bench_result *results = measure(&r.m.campaign);
    bench_doubt_load(&r.m.doubts, &r.m.campaign, r.m.machine.cpus, results);
    warn_of(&r.m.doubts, known);
    r.m.results = results;
    r.m.result_count = r.m.campaign.lock_count * r.m.campaign.thread_counts;
    output o;
    output_open(&o, r.output);
    (r.json ? mutexbench_json : mutexbench_text)(&o, &r.m);
    output_close(&o);
    free(results);
    free(r.locks);
    free(r.threads);
    return EXIT_SUCCESS;
}
