/* main.c - `pawl doctor`: what this machine offers, what libpawl makes of it, and how to change that */
#include "doctor.h"

#include "../json.h"
#include "../parse.h"

#include <stdlib.h>
#include <sys/stat.h>

typedef struct request {
    bool json;
    const char *output, *root;
} request;

static const char *offer_name(offer o)
{
    static const char *const names[] = {[OFFERED] = "yes", [NOT_OFFERED] = "no", [NOT_KNOWN] = "?"};
    return names[o];
}

static void print_text(output *o, const finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const finding *f = &findings[i];
        fprintf(o->file, "%-11s %-4s %s%s\n", probes[i].name, offer_name(f->offer), f->found,
                f->warning ? "  (!)" : "");
        fprintf(o->file, "%-16s libpawl: %s\n", "", f->choice);
        if (f->change != NULL)
            fprintf(o->file, "%-16s to change: %s\n", "", f->change);
    }
}

static void print_json(output *o, const finding *findings, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const finding *f = &findings[i];
        json_t *offered = f->offer == NOT_KNOWN ? json_null() : json_boolean(f->offer == OFFERED);
        json_t *one = json_pack("{ss so ss ss ss? sb}", "name", probes[i].name, "offered", offered, "found",
                                f->found, "choice", f->choice, "change", f->change, "warning", f->warning);
        if (json_array_append_new(array, one) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{so}", "findings", array));
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    struct stat about;
    switch (key) {
    case 'j':
        r->json = true;
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case 'R':
        if (stat(argument, &about) != 0 || !S_ISDIR(about.st_mode))
            fail("--root: '%s' is no directory", argument);
        r->root = argument;
        return 0;
    case ARGP_KEY_ARG:
        fail("'%s': doctor takes no argument", argument);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"root", 'R', "DIR", 0, "Read DIR/proc and DIR/sys instead of /proc and /sys", 0},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .doc =
                                     "Show what this machine offers to locks, and what libpawl makes of it.",
                                 .children = common_options};

int doctor_main(int argc, char **argv)
{
    request r = {.root = ""};
    parse_options(&argp, argc, argv, 0, &r);
    check_environment();
    enum { MOST = 32 };
    static finding findings[MOST];
    size_t count = 0;
    bool warned = false;
    for (; count < MOST && probes[count].name != NULL; count++) {
        probes[count].run(&findings[count], r.root);
        warned |= findings[count].warning;
    }
    output o;
    output_open(&o, r.output);
    (r.json ? print_json : print_text)(&o, findings, count);
    output_close(&o);
    return warned ? EXIT_BAD_NEWS : EXIT_SUCCESS;
}
