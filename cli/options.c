/* options.c - --help and --version for every command, and errors that are one line
 *
 * Left to itself argp reports an error in two lines and exits with 64. ARGP_NO_ERRS silences it, but also
 * its --help; so that is done here.
 */
#include "cli.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

enum { HELP = 0x100, USAGE, VERSION };

static const struct argp_option options[] = {
    {"help", HELP, NULL, 0, "Show this help", -1},
    {"usage", USAGE, NULL, 0, "Show a short usage message", -1},
    {"version", VERSION, NULL, 0, "Show the version", -1},
    {0},
};

static _Noreturn void print_and_exit(const struct argp_state *state, int key)
{
    output o;
    output_open(&o, NULL);
    if (key == VERSION)
        fprintf(o.file, "pawl %s\n", PAWL_VERSION);
    else
        argp_help(state->root_argp, o.file, key == HELP ? ARGP_HELP_STD_HELP : ARGP_HELP_USAGE, state->name);
    output_close(&o);
    exit(EXIT_SUCCESS);
}

/* getopt stands behind a long option, or the last of a cluster of short ones, when it finds it wrong; within
 * a cluster it still stands at it. */
static const char *offender(const struct argp_state *state)
{
    const char *next = state->next < state->argc ? state->argv[state->next] : NULL;
    bool within = next != NULL && strlen(next) > 2 && next[0] == '-' && next[1] != '-';
    return within ? next : state->argv[state->next - 1];
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case HELP:
    case USAGE:
    case VERSION:
        print_and_exit(state, key);
    case ARGP_KEY_ARG: /* the command itself did not want it */
        fail("'%s': unexpected argument; see '%s --help'", argument, state->name);
    case ARGP_KEY_ERROR:
        fail("'%s': no such option, or its value is missing or unwanted; see '%s --help'", offender(state),
             state->name);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp common = {.options = options, .parser = parse_common};
const struct argp_child common_options[] = {{&common, 0, NULL, -1}, {0}};

void parse_options(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    int error = argp_parse(argp, argc, argv, flags | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input);
    if (error != 0)
        fail("%s", strerror(error));
}
