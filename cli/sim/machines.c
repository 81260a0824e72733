/* machines.c - `pawl sim machines`: lists the machines, or writes a file to start from */
#include "sim.h"

#include "sim/answer.h"

#include <string.h>

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const char **name = state->input;
    if (key != ARGP_KEY_ARG || *name != NULL)
        return ARGP_ERR_UNKNOWN;
    *name = argument;
    return 0;
}

static void list(void)
{
    for (const sim_builtin *b = sim_builtins; b->name != NULL; b++) {
        sim_machine m;
        sim_complaint c;
        if (!sim_machine_parse(b->text, &m, &c))
            fail("%s:%u:%u: %s", b->name, c.line, c.column, c.text);
        printf("%-12s %4u CPUs  %s\n", m.name, sim_machine_cpus(&m), m.title);
    }
    printf("%-12s            the machine that this is, measured in a second or two\n", "this");
}

int machines_main(int argc, char **argv)
{
    const char *name = NULL;
    struct argp argp = {.parser = parse,
                        .args_doc = "[NAME]",
                        .doc = "List the machines that are built in, or write the file of one.",
                        .children = common_options};
    parse_options(&argp, argc, argv, 0, &name);
    if (name == NULL) {
        list();
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "this") == 0) {
        load_machine(name);
        sim_machine_write(stdout, &sim_chosen, sim_source_this);
        return EXIT_SUCCESS;
    }
    fputs(builtin_machine(name)->text, stdout);
    return EXIT_SUCCESS;
}
