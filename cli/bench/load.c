/* load.c - what threads do while they have the lock, and before they want it again; the papers' settings by name */
#include "bench.h"

#include "cli/parse.h"

#include <string.h>

enum { MOST_STEPS = 1000000 };

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

static void take_preset(study *s, const char *text)
{
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(text, presets[i].name) == 0) {
            s->preset = presets[i].name;
            s->base.load = presets[i].load;
            return;
        }
    fail("--preset '%s': no such preset%s", text, did_you_mean(text, preset_name, presets, PRESETS));
}

void take_ncs(bench_load *load, const char *text)
{
    static const char prefix[] = "random:";
    load->ncs_random = strncmp(text, prefix, strlen(prefix)) == 0;
    const char *number = load->ncs_random ? text + strlen(prefix) : text;
    load->ncs = (uint32_t)parse_number(load->ncs_random ? "--ncs random:" : "--ncs", number, load->ncs_random,
                                       MOST_STEPS);
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
    {"cs", CS, "N", 0, "Steps of the shared generator while the lock is held (default 1)", 0},
    {"ncs", NCS, "N|random:N", 0,
     "Steps between two acquisitions: N, or each time another number in [0,N) (default 0)", 0},
    {"generator", GENERATOR, "NAME", 0, "What steps are taken of: xoroshiro128+ (default) or mt19937", 0},
    {0},
};

/* What a later option changes is no longer the figure's. */
static error_t parse(int key, char *argument, struct argp_state *state)
{
    study *s = state->input;
    switch (key) {
    case PRESET:
        take_preset(s, argument);
        return 0;
    case CS:
        s->preset = NULL;
        s->base.load.cs = (uint32_t)parse_number("--cs", argument, 0, MOST_STEPS);
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

void load_parameters(const study *s, json_t *to)
{
    const bench_load *load = &s->base.load;
    json_object_set_new(to, "cs", json_integer(load->cs));
    json_object_set_new(to, "ncs", json_integer(load->ncs));
    json_object_set_new(to, "ncs_random", json_boolean(load->ncs_random));
    json_object_set_new(to, "generator", json_string(load->mersenne ? "mt19937" : "xoroshiro128+"));
}
