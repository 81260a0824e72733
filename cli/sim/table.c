/* table.c - `pawl sim table`: coherence misses per acquisition, beside those that the papers measured */
#include "sim.h"

#include "cli/grid.h"
#include "cli/json.h"
#include "cli/parse.h"

#include "sim/answer.h"

#include <pawl/policy.h>

#include <math.h>
#include <string.h>

/* Long enough for the thread's own generator of the paper's section, and for the next waiter to have queued up. */
enum { SECTION_NS = 40, DURATION_NS = 2000000, WARM_UP_NS = 40000 }; /* the last for each thread */

typedef struct row {
    const char *lock;
    double published;
    const char *why; /* it differs; NULL if it does not */
    const char *set; /* a change of the machine         */
    uint32_t ncs;    /* steps outside, at random        */
    const char *variation;
    double published_rate; /* M/s, or 0 */
    double misses, rate;   /* ours       */
} row;

static row hapax_table[] = {
    {.lock = "mcs", .published = 6},
    {.lock = "clh", .published = 5},
    {.lock = "hemlock", .published = 5},
    {.lock = "ticket", .published = 10},
    {.lock = "twa",
     .published = 8.5,
     .why = "follows the length of the section: 7 with 20 ns, 8 with 40 or 60"},
    {.lock = "reciprocating", .published = 4},
    {.lock = "tidex", .published = 10},
    {.lock = "hapax",
     .published = 5,
     .why =
         "the unlocker's words are still its own when it comes back at once; the variations below undo that"},
    {.lock = "hapax_vw", .published = 4},
};

static row hapax_variations[] = {
    {.lock = "hapax", .published = 5, .set = "line 8", .variation = "every word on a line of its own"},
    {.lock = "hapax", .published = 5, .ncs = 200, .variation = "threads stay away for 0 to 200 steps"},
    {.lock = "hapax", .published = 5, .set = "line 8", .ncs = 200, .variation = "both"},
};

static row hemlock_table[] = {
    {.lock = "mcs", .published = 10.6, .published_rate = 3.81},
    {.lock = "clh", .published = 11.1, .published_rate = 3.82},
    {.lock = "ticket", .published = 45.9, .published_rate = 2.66},
    {.lock = "hemlock", .published = 6.81, .published_rate = 4.48},
    {.lock = "hemlock_naive", .published = 7.92, .published_rate = 3.62},
};

static const char offcore_note[] =
    "A miss is one request here; the processor's counter presumably has prefetches and retries, too.";

#define ROWS(rows) rows, sizeof rows / sizeof rows[0]

double simulated_misses(const bench_run *run)
{
    double sum = 0;
    for (int i = 0; i < SIM_OBJECTS; i++)
        sum += run->simulated.lines[i].read_misses + run->simulated.lines[i].write_misses +
               run->simulated.lines[i].upgrades;
    return sum;
}

const subject *simulated_subject(const char *name)
{
    size_t count;
    const subject *all = native_subjects(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail("'%s': no such lock", name);
}

/* One at a time: the machine differs. */
static void simulate(row *r, const char *machine, unsigned threads, unsigned section_ns)
{
    workload w = mutexbench;
    w.harness = false;
    study s = {.runs = 1};
    load_machine(machine);
    if (r->set != NULL)
        change_machine(r->set);
    sim_private_section = section_ns * (sim_time)1000;
    study_begin(&s, &w, DURATION_NS);
    s.base.warm_up_ns = 1000000 + WARM_UP_NS * threads;
    s.base.policy = PAWL_WAIT_SPIN;
    s.base.load = (bench_load){.ncs = r->ncs, .ncs_random = r->ncs > 0};
    add_point(&s, simulated_subject(r->lock), threads);
    measure(&s);
    r->misses = simulated_misses(&s.points[0].samples[0].run);
    r->rate = s.points[0].median;
    study_end(&s);
}

static void simulate_all(row *rows, size_t count, const char *machine, unsigned threads, unsigned section_ns)
{
    for (size_t i = 0; i < count; i++)
        simulate(&rows[i], machine, threads, section_ns);
}

/* ---- output */

static json_t *rows_json(const row *rows, size_t count, const char *ours)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        json_t *j = json_pack("{ss sf sf}", "lock", r->lock, ours, r->misses, "published", r->published);
        if (r->published_rate > 0) {
            json_object_set_new(j, "rate", json_real(r->rate));
            json_object_set_new(j, "published_rate", json_real(r->published_rate * 1e6));
        }
        if (r->variation != NULL)
            json_object_set_new(j, "variation", json_string(r->variation));
        if (r->why != NULL)
            json_object_set_new(j, "difference", json_string(r->why));
        json_array_append_new(array, j);
    }
    return array;
}

static void rows_text(FILE *f, const row *rows, size_t count)
{
    static const double agrees = 0.05;
    grid g = grid_new("lrrl");
    grid_add(&g, "lock");
    grid_add(&g, "ours");
    grid_add(&g, "published");
    grid_add(&g, "%s", "");
    for (size_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        bool same = fabs(r->misses - r->published) <= agrees;
        grid_add(&g, "%s", r->lock);
        grid_add(&g, "%.2f", r->misses);
        grid_add(&g, "%g", r->published);
        const char *note = r->variation != NULL ? r->variation : r->why != NULL ? r->why : "";
        if (r->published_rate > 0)
            grid_add(&g, "%s%.2f M/s, published %.2f", same ? "" : "* ", r->rate / 1e6, r->published_rate);
        else
            grid_add(&g, "%s%s", same ? "" : "* ", note);
    }
    grid_print(&g, f);
    grid_free(&g);
}

static void text(FILE *f, unsigned threads)
{
    fprintf(
        f,
        "Coherence misses per acquisition, upgrades included, of %u threads that spin; %d ns inside, which "
        "touch no "
        "memory,\nand nothing outside. altra, simulated; published: Hapax paper, table 2, 10 threads.\n\n",
        threads, SECTION_NS);
    rows_text(f, ROWS(hapax_table));
    fputs("\nVariations of hapax:\n\n", f);
    rows_text(f, ROWS(hapax_variations));
    fputs("\nThe same with 32 threads and nothing inside. x5-2, simulated; published: offcore accesses, "
          "Hemlock paper, "
          "table 2.\n\n",
          f);
    rows_text(f, ROWS(hemlock_table));
    fprintf(f, "\n* differs by more than 0.05. %s\n", offcore_note);
}

static void write_json(output *o, unsigned threads)
{
    output_json(o, json_pack("{si so so so ss}", "threads", (int)threads, "locks",
                             rows_json(ROWS(hapax_table), "invalidations"), "variations",
                             rows_json(ROWS(hapax_variations), "invalidations"), "offcore",
                             rows_json(ROWS(hemlock_table), "offcore"), "offcore_difference", offcore_note));
}

/* ---- the command */

typedef struct wish {
    bool json;
    unsigned threads;
    const char *output;
} wish;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    wish *w = state->input;
    switch (key) {
    case 'j':
        w->json = true;
        return 0;
    case 't':
        w->threads = (unsigned)parse_number("--threads", argument, 2, 128);
        return 0;
    case 'o':
        w->output = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"threads", 't', "N", 0, "Threads on altra, where the paper has 10", 0},
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

int table_main(int argc, char **argv)
{
    wish w = {.threads = 10};
    struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Simulate the papers' tables of coherence traffic, and show their values beside ours.",
        .children = common_options};
    parse_options(&argp, argc, argv, 0, &w);
    output_check(w.output);
    simulate_all(ROWS(hapax_table), "altra", w.threads, SECTION_NS);
    simulate_all(ROWS(hapax_variations), "altra", w.threads, SECTION_NS);
    simulate_all(ROWS(hemlock_table), "x5-2", 32, 0);
    output o;
    output_open(&o, w.output);
    if (w.json)
        write_json(&o, w.threads);
    else
        text(o.file, w.threads);
    output_close(&o);
    return EXIT_SUCCESS;
}
