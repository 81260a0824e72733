/* tune.c - `pawl tune`: which lock is best under a command, or whether none is */
#include "tune.h"

#include "cli/launch.h"
#include "cli/parse.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 10 }; /* times native's wall time, then a candidate is stopped */

typedef struct request {
    tuning study;
    const char *locks, *output;
    bool json;
    int command;
} request;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'm': {
        int error = regcomp(&r->study.metric, argument, REG_EXTENDED | REG_NEWLINE);
        char why[128];
        if (error != 0) {
            regerror(error, &r->study.metric, why, sizeof why);
            fail("--metric '%s': %s", argument, why);
        }
        r->study.metric_text = argument;
        return 0;
    }
    case 'L':
        r->study.lower = true;
        return 0;
    case 'r':
        r->study.runs = parse_number("--runs", argument, 4, 1000);
        return 0;
    case 'l':
        r->locks = argument;
        return 0;
    case 'W':
        r->study.waits = true;
        return 0;
    case 't':
        r->study.threshold = (double)parse_number("--threshold", argument, 0, 1000) / 100;
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        r->command = state->next - 1;
        state->next = state->argc;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"metric", 'm', "REGEX", 0,
     "What counts is the number that the command prints where the extended regular expression, or its first "
     "group, matches, and that must be above 0; "
     "without it, wall time",
     0},
    {"lower", 'L', NULL, 0, "With --metric: the lower the better", 0},
    {"runs", 'r', "N", 0, "Runs of each candidate (7)", 0},
    {"lock", 'l', "LIST", 0,
     "Candidates: LOCK, LOCK:POLICY or pawl_mutex:SETTING "
     "(pawl_mutex,pawl_mutex:spin,pawl_mutex:prompt,pawl_fairmutex,tts,reciprocating)",
     0},
    {"waits", 'W', NULL, 0, "Also measure the worst wait for a lock, in as many runs again", 0},
    {"threshold", 't', "PERCENT", 0, "A smaller difference does not count (2)", 0},
    {"json", 'j', NULL, 0, "Write JSON", 1},
    {"output", 'o', "FILE", 0, "Write to FILE", 1},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]",
    .doc = "Run a command as it is and with other locks under it, in turn, and "
           "say which is better: only if it can't be chance, by Mann and "
           "Whitney's test at 5 %, corrected by Holm's method for all candidates and "
           "all that is compared together. "
           "Its output is not shown.",
    .children = common_options};

/* What follows the colon: of the mutex a setting of its own, of others a policy. */
static void choose_setting(candidate *c, const char *name)
{
    if (strcmp(c->lock, "pawl_mutex") == 0) {
        const preload_setting *setting = launch_setting("--lock", name);
        c->variable = "PAWL_MUTEX";
        c->value = setting->name;
        c->built = setting->built;
    } else if (strncmp(c->lock, "pawl_", 5) == 0) {
        fail("--lock '%s': waits in its own way", c->name);
    } else {
        c->variable = "PAWL_WAIT";
        c->value = policy_name(parse_policy("--lock", name));
    }
}

static void add_candidate(const char *item, void *input)
{
    tuning *s = input;
    char library[PATH_MAX];
    candidate *more = realloc(s->candidates, (s->count + 1) * sizeof *more);
    if (more == NULL)
        fail("out of memory");
    s->candidates = more;
    candidate *c = &s->candidates[s->count++];
    *c = (candidate){.name = strdup(item)};
    if (s->count > 1) {
        const char *colon = strchr(item, ':');
        c->lock = strndup(item, colon != NULL ? (size_t)(colon - item) : strlen(item));
        if (colon != NULL)
            choose_setting(c, colon + 1);
        launch_check(c->lock, s->argv[0], library, sizeof library);
        c->library = strdup(library);
    }
    for (int q = 0; q < QUANTITIES; q++)
        c->values[q] = allocate(s->runs, sizeof(double));
}

/* Each round begins with another one, so that what changes in the course of the study changes for all. */
static void measure(tuning *s)
{
    double limit = 0;
    for (size_t run = 0; run < s->runs; run++)
        for (size_t i = 0; i < s->count; i++) {
            candidate *c = &s->candidates[run == 0 ? i : (i + run) % s->count];
            double values[QUANTITIES] = {NAN, NAN, NAN, NAN};
            if (c->gave_up)
                continue;
            c->gave_up = !tune_run(s, c, c->lock != NULL ? limit : 0, values);
            if (c->lock == NULL && run == 0)
                limit = PATIENCE * values[WALL] + 1;
            if (s->waits && !c->gave_up)
                values[WORST_WAIT] = tune_worst_wait(s, c);
            for (int q = 0; q < QUANTITIES; q++)
                c->values[q][run] = values[q];
        }
}

/* With or without them, the runs would differ from the command as it is, or from what is recommended. */
static void refuse_settings(void)
{
    static const char *const settings[] = {"PAWL_MUTEX", "PAWL_WAIT"};
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
        if (getenv(settings[i]) != NULL)
            fail("%s is set: unset it, and name what it stands for as a candidate, like pawl_mutex:%s",
                 settings[i], getenv(settings[i]));
}

int tune_main(int argc, char **argv)
{
    request r = {.study = {.runs = 7, .threshold = 0.02},
                 .locks = "pawl_mutex,pawl_mutex:spin,pawl_mutex:prompt,pawl_fairmutex,tts,reciprocating"};
    tuning *s = &r.study;
    parse_options(&argp, argc, argv, ARGP_IN_ORDER, &r);
    if (r.command == 0)
        fail("no command given; see '%s --help'", argv[0]);
    if (s->lower && s->metric_text == NULL)
        fail("--lower: only with --metric");
    refuse_settings();
    output_check(r.output);
    s->argv = argv + r.command;
    add_candidate("native", s);
    parse_list("--lock", r.locks, add_candidate, s);
    tune_check_runs(s);
    measure(s);
    tune_judge(s);
    output o;
    output_open(&o, r.output);
    (r.json ? tune_json : tune_text)(&o, s);
    output_close(&o);
    for (size_t i = 0; i < s->count; i++) {
        for (int q = 0; q < QUANTITIES; q++)
            free(s->candidates[i].values[q]);
        free(s->candidates[i].name);
        free(s->candidates[i].lock);
        free(s->candidates[i].library);
    }
    free(s->candidates);
    if (s->metric_text != NULL)
        regfree(&s->metric);
    return EXIT_SUCCESS;
}
