/* run.c - `pawl run`: starts a program with another lock under its pthread mutexes
 *
 * The command takes the place of this process, so that signals, descriptors, exit status and process id are its
 * own; all that changes is the environment: LD_PRELOAD, and what the options ask for.
 */
#include "cli.h"
#include "grid.h"
#include "json.h"
#include "launch.h"
#include "library.h"
#include "output.h"
#include "parse.h"

#include "preload/place/register.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    const char *lock;
    const char *wait;
    bool stats;
    const char *stats_file; /* NULL: the default, with the table on standard error */
    bool list, json;
    int command; /* its place in argv, or 0 */
} request;

static const char default_stats_file[] = "pawl-stats.json";

static void print_table(output *o)
{
    grid g = grid_new("ll");
    grid_add(&g, "lock");
    grid_add(&g, "usable");
    for (size_t i = 0; i < preload_library_count; i++) {
        const preload_library *l = &preload_libraries[i];
        grid_add(&g, "%s", l->name);
        if (l->refused != NULL)
            grid_add(&g, "no: %s", l->refused);
        else
            grid_add(&g, strcmp(l->name, launch_default_lock) == 0 ? "yes, the default" : "yes");
    }
    grid_print(&g, o->file);
    grid_free(&g);
}

static void print_json(output *o)
{
    json_t *libraries = json_array();
    for (size_t i = 0; i < preload_library_count; i++) {
        const preload_library *l = &preload_libraries[i];
        char path[PATH_MAX];
        bool there = l->refused == NULL && library_find(l->name, path, sizeof path);
        json_t *library = json_pack(
            "{ss sb ss? sb ss?}", "name", l->name, "usable", l->refused == NULL, "reason", l->refused,
            "default", strcmp(l->name, launch_default_lock) == 0, "library", there ? path : NULL);
        if (json_array_append_new(libraries, library) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{so}", "locks", libraries));
}

static int list(const request *r)
{
    output o;
    output_open(&o, NULL);
    if (r->json)
        print_json(&o);
    else
        print_table(&o);
    output_close(&o);
    return EXIT_SUCCESS;
}

/* Programs change their folder; the statistics belong where the user started the command. */
static void request_stats(const request *r)
{
    const char *file = r->stats_file != NULL ? r->stats_file : default_stats_file;
    char path[PATH_MAX], here[PATH_MAX];
    if (file[0] != '/' && getcwd(here, sizeof here) == NULL)
        fail("--stats: the current folder: %s", strerror(errno));
    int length =
        snprintf(path, sizeof path, "%s%s%s", file[0] != '/' ? here : "", file[0] != '/' ? "/" : "", file);
    if (length >= (int)sizeof path)
        fail("--stats '%s': %s", file, strerror(ENAMETOOLONG));
    output_check_as("--stats", path);
    launch_set("PAWL_STATS", path);
    if (r->stats_file == NULL)
        launch_set("PAWL_STATS_TABLE", "-");
    else
        unsetenv("PAWL_STATS_TABLE");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'l':
        r->lock = argument;
        return 0;
    case 'w':
        r->wait = policy_name(parse_policy("--wait", argument));
        return 0;
    case 's':
        if (argument != NULL && *argument == '\0')
            fail("--stats '': no file named");
        r->stats = true;
        r->stats_file = argument;
        return 0;
    case 'L':
        r->list = true;
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case ARGP_KEY_ARG:
        r->command = state->next - 1;
        state->next = state->argc;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"lock", 'l', "NAME", 0, "The lock to use instead of pthread's (pawl_mutex)", 0},
    {"wait", 'w', "POLICY", 0, "How threads wait: spin, yield or park (park)", 0},
    {"stats", 's', "FILE", OPTION_ARG_OPTIONAL,
     "At exit, write what each lock cost: JSON to FILE and a table to FILE.txt; without FILE, JSON to "
     "pawl-stats.json and the table to standard error",
     0},
    {"list", 'L', NULL, 0, "Show which locks can be used, and why others cannot", 1},
    {"json", 'j', NULL, 0, "With --list: write JSON", 1},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]\n--list",
    .doc = "Run a command with another lock under its pthread mutexes, C11 mutexes, "
           "spin locks and condition variables. Nothing is recompiled.",
    .children = common_options};

int run_main(int argc, char **argv)
{
    request r = {.lock = launch_default_lock};
    parse_options(&argp, argc, argv, ARGP_IN_ORDER, &r);
    if (r.list && r.command != 0)
        fail("--list: takes no command, but there is '%s'", argv[r.command]);
    if (r.list)
        return list(&r);
    if (r.json)
        fail("--json: only with --list");
    char library[PATH_MAX];
    launch_check(r.lock, r.command != 0 ? argv[r.command] : NULL, library, sizeof library);
    if (r.command == 0)
        fail("no command given; see '%s --help'", argv[0]);
    if (r.wait != NULL)
        launch_set("PAWL_WAIT", r.wait);
    if (r.stats)
        request_stats(&r);
    library_preload(library);
    launch_exec(argv + r.command);
}
