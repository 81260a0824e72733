/* load.c - what threads do while they have the lock, and before they want it again; the papers' settings by name */
#include "bench.h"

#include "cli/parse.h"

#include <string.h>

enum { MOST_STEPS = 1000000, MOST_SECTION_NS = 1000000000 };

/* Figures on other machines have the settings of the first of their kind: figures 1c and 1d of the Reciprocating paper
 * those of 1a and 1b, figures 4 and 6 of Hemlock's those of 2, figures 5 and 7 those of 3. */
static const struct preset {
    const char *name;
    bench_load load;
} presets[] = {
    {"max", {.cs = 1}},
    {"moderate", {.cs = 1, .ncs = 500}},
    {"hapax-fig3-max", {.cs = 1}},
    {"hapax-fig3-moderate", {.cs = 1, .ncs = 500}},
    {"reciprocating-fig1a", {.cs = 1, .mersenne = true}},
    {"reciprocating-fig1b", {.cs = 1, .ncs = 250, .ncs_random = true, .mersenne = true}},
    {"hemlock-fig2", {.cs = 0, .mersenne = true}},
    {"hemlock-fig3", {.cs = 5, .ncs = 400, .ncs_random = true, .mersenne = true}},
    {"capacitors-fig1", {.cs = 1, .mersenne = true}},
};

enum { PRESETS = sizeof presets / sizeof presets[0] };

static const char *preset_name(const void *all, size_t i)
{
    return ((const struct preset *)all)[i].name;
}

void take_load_preset(study *s, const char *text)
{
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(text, presets[i].name) == 0) {
            s->preset = presets[i].name;
            s->base.load = presets[i].load;
            return;
        }
    fail("--preset '%s': no such preset%s", text, did_you_mean(text, preset_name, presets, PRESETS));
}

/* A number with a unit, if only an unknown one. */
static bool is_time(const char *text)
{
    size_t digits = strspn(text, "0123456789.");
    return digits > 0 && text[digits] != '\0';
}

static void take_cs(bench_load *load, const char *text)
{
    bool time = is_time(text);
    load->cs_ns = time ? parse_time("--cs", text, 1, MOST_SECTION_NS) : 0;
    load->cs = time ? 1 : (uint32_t)parse_number("--cs", text, 0, MOST_STEPS);
}

/* Returns what is left to be read: a number of steps or, where there are loops for it, a time. */
static const char *take_random(bench_load *load, const char *text)
{
    static const char prefix[] = "random:";
    load->ncs_random = strncmp(text, prefix, strlen(prefix)) == 0;
    return load->ncs_random ? text + strlen(prefix) : text;
}

void take_ncs_steps(bench_load *load, const char *text)
{
    const char *number = take_random(load, text);
    load->ncs_ns = 0;
    load->ncs = (uint32_t)parse_number(load->ncs_random ? "--ncs random:" : "--ncs", number, load->ncs_random,
                                       MOST_STEPS);
}

void take_ncs(bench_load *load, const char *text)
{
    const char *number = take_random(load, text);
    if (!is_time(number)) {
        take_ncs_steps(load, text);
        return;
    }
    load->ncs = 0;
    load->ncs_ns = parse_time("--ncs", number, 1, MOST_SECTION_NS);
}

static const char *section_text(uint32_t steps, uint64_t ns, char *room)
{
    if (ns != 0)
        return time_text(ns, room);
    snprintf(room, TIME_ROOM, "%u", steps);
    return room;
}

static void take_generator(bench_load *load, const char *text)
{
    load->mersenne = strcmp(text, "mt19937") == 0;
    if (!load->mersenne && strcmp(text, "xoroshiro128+") != 0)
        fail("--generator '%s': must be xoroshiro128+ or mt19937", text);
}

enum { CS = 0x300, NCS, GENERATOR, PRESET };

static const struct argp_option options[] = {
    {"preset", PRESET, "NAME", 0,
     "Settings of a paper's figure: max, moderate (hapax-fig3-max, hapax-fig3-moderate), "
     "reciprocating-fig1a, "
     "reciprocating-fig1b, hemlock-fig2, hemlock-fig3, capacitors-fig1; options after it prevail",
     0},
    {"cs", CS, "N|TIME", 0,
     "Steps of the shared generator while the lock is held, or how long it is held, such as 20us (default 1)",
     0},
    {"ncs", NCS, "[random:]N|TIME", 0,
     "Steps, or time, between two acquisitions: N, or each time another number in [0,N) (default 0)", 0},
    {"generator", GENERATOR, "NAME", 0, "What steps are taken of: xoroshiro128+ (default) or mt19937", 0},
    {0},
};

/* Once a later option changes something, it is no longer the figure. */
static error_t parse(int key, char *argument, struct argp_state *state)
{
    study *s = state->input;
    switch (key) {
    case PRESET:
        take_load_preset(s, argument);
        return 0;
    case CS:
        s->preset = NULL;
        take_cs(&s->base.load, argument);
        return 0;
    case NCS:
        s->preset = NULL;
        take_ncs(&s->base.load, argument);
        return 0;
    case GENERATOR:
        s->preset = NULL;
        take_generator(&s->base.load, argument);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp load_argp = {.options = options, .parser = parse};

static void set_section(json_t *to, const char *steps_name, uint32_t steps, const char *ns_name, uint64_t ns)
{
    json_object_set_new(to, ns != 0 ? ns_name : steps_name, json_integer(ns != 0 ? (json_int_t)ns : steps));
}

void load_parameters(const bench_request *q, json_t *to)
{
    const bench_load *load = &q->load;
    set_section(to, "cs", load->cs, "cs_ns", load->cs_ns);
    set_section(to, "ncs", load->ncs, "ncs_ns", load->ncs_ns);
    json_object_set_new(to, "ncs_random", json_boolean(load->ncs_random));
    json_object_set_new(to, "generator", json_string(load->mersenne ? "mt19937" : "xoroshiro128+"));
}

void ncs_describe(const bench_request *q, FILE *to)
{
    char room[TIME_ROOM];
    fprintf(to, "ncs %s%s", q->load.ncs_random ? "random:" : "",
            section_text(q->load.ncs, q->load.ncs_ns, room));
}

void load_describe(const bench_request *q, FILE *to)
{
    char room[TIME_ROOM];
    fprintf(to, "cs %s, ", section_text(q->load.cs, q->load.cs_ns, room));
    ncs_describe(q, to);
}
