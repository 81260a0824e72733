/* machine.c - the options that say which machine is simulated */
#include "sim.h"

#include "cli/parse.h"

#include "sim/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SET = 0x600, SEED, TRACE };

static const char default_machine[] = "altra";

/* ---- files */

static char *read_text(const char *name)
{
    enum { MOST = 1 << 20 };
    FILE *f = fopen(name, "r");
    if (f == NULL)
        fail("%s: %s", name, strerror(errno));
    char *text = allocate(MOST + 1, 1);
    size_t length = fread(text, 1, MOST, f);
    if (ferror(f))
        fail("%s: %s", name, strerror(errno));
    if (length == 0 || !feof(f))
        fail("%s: empty, or longer than a megabyte", name);
    fclose(f);
    text[length] = '\0';
    if (strlen(text) != length)
        fail("%s: no text, but something binary", name);
    return text;
}

static const char *builtin_name(const void *all, size_t i)
{
    return ((const sim_builtin *)all)[i].name;
}

static size_t builtin_count(void)
{
    size_t count = 0;
    while (sim_builtins[count].name != NULL)
        count++;
    return count;
}

const sim_builtin *builtin_machine(const char *name)
{
    for (const sim_builtin *b = sim_builtins; b->name != NULL; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    fail("'%s': no such machine%s; a file has a '.' or a '/' in its name", name,
         did_you_mean(name, builtin_name, sim_builtins, builtin_count()));
}

void load_machine(const char *name)
{
    sim_complaint c;
    if (strcmp(name, "this") == 0) {
        if (!sim_machine_this(&sim_chosen))
            fail("--machine this: hwloc cannot describe it, or it has more than %d CPUs", SIM_MOST_CPUS);
        return;
    }
    bool file = strchr(name, '/') != NULL || strchr(name, '.') != NULL;
    char *read = file ? read_text(name) : NULL;
    if (!sim_machine_parse(file ? read : builtin_machine(name)->text, &sim_chosen, &c))
        fail("%s:%u:%u: %s", name, c.line, c.column, c.text);
    free(read);
}

void change_machine(const char *line)
{
    sim_complaint c;
    if (strchr(line, '\n') != NULL || !sim_machine_set(&sim_chosen, line, &c))
        fail("--set '%s': column %u: %s", line, c.column, c.text);
}

/* ---- options */

/* The value of the option at argv[*i], or NULL if it is another. */
static const char *value_of(int argc, char **argv, int *i, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    if (argv[*i][length] != '\0' || *i + 1 >= argc)
        return NULL;
    return argv[++*i];
}

static unsigned options_found;

void choose_machine(int argc, char **argv)
{
    const char *value;
    load_machine(default_machine);
    for (int i = 1; i < argc; i++)
        if ((value = value_of(argc, argv, &i, "--machine")) != NULL ||
            (value = value_of(argc, argv, &i, "-m")) != NULL) {
            load_machine(value);
            options_found++;
        }
    for (int i = 1; i < argc; i++)
        if ((value = value_of(argc, argv, &i, "--set")) != NULL) {
            change_machine(value);
            options_found++;
        }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)state;
    static unsigned seen;
    switch (key) {
    case 'm':
    case SET:
        if (++seen > options_found)
            fail("--machine and --set must be written out, or -m with a blank after it");
        return 0;
    case TRACE:
        output_check_as("--trace", argument);
        sim_chosen_trace = argument;
        return 0;
    case SEED:
        sim_chosen_seed = parse_number("--seed", argument, 0, UINT32_MAX);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"machine", 'm', "NAME", 0,
     "The machine: built in, a file, or 'this' (default altra; 'pawl sim machines' lists them)", 0},
    {"set", SET, "LINE", 0, "Change it, by a line as in its file: --set 'wake 20us'", 0},
    {"seed", SEED, "N", 0, "Of all that is random (default 1)", 0},
    {"trace", TRACE, "FILE", 0,
     "Write a timeline of the run, of one lock and one number of threads, for Perfetto", 0},
    {0},
};

const struct argp machine_argp = {.options = options, .parser = parse};
