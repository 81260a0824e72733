/* dispatch.c - finds the command that was named and runs it */
#include "cli.h"
#include "parse.h"

#include <stdlib.h>
#include <string.h>

/* The first argument that is no option is the command, and the rest is its business. */
static error_t take_command(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    *(int *)state->input = state->next - 1;
    state->next = state->argc;
    return 0;
}

static size_t command_count(const command_set *set)
{
    size_t count = 0;
    while (set->commands[count].name != NULL)
        count++;
    return count;
}

/* The set as argp's documentation entries, so that --help lists it. */
static struct argp_option *describe(const command_set *set)
{
    size_t count = command_count(set);
    struct argp_option *options = allocate(count + 1, sizeof *options);
    for (size_t i = 0; i < count; i++)
        options[i] = (struct argp_option){.name = set->commands[i].name,
                                          .flags = OPTION_DOC | OPTION_NO_USAGE,
                                          .doc = set->commands[i].help};
    return options;
}

static const char *command_name(const void *set, size_t i)
{
    return ((const command_set *)set)->commands[i].name;
}

static const command *find(const command_set *set, const char *name)
{
    for (const command *c = set->commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    fail("'%s': no such %s%s", name, set->kind, did_you_mean(name, command_name, set, command_count(set)));
}

static char *join(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 2;
    char *joined = allocate(size, 1);
    snprintf(joined, size, "%s %s", a, b);
    return joined;
}

int dispatch(const command_set *set, int argc, char **argv)
{
    struct argp_option *options = describe(set);
    struct argp argp = {.options = options,
                        .parser = take_command,
                        .args_doc = set->usage,
                        .doc = set->doc,
                        .children = common_options};
    int at = 0;
    parse_options(&argp, argc, argv, ARGP_IN_ORDER, &at);
    free(options);
    if (at == 0)
        fail("no %s given; '%s --help' lists them", set->kind, argv[0]);
    const command *c = find(set, argv[at]);
    char *name = argv[at] = join(argv[0], c->name);
    int status = c->run(argc - at, argv + at);
    free(name);
    return status;
}
