/* profile.c - `pawl profile`: runs a program, and shows which locks it waits for and who holds them
 *
 * The program's tables are in a file that this process holds (preload/stats/region.c), so that nothing is lost however
 * the program ends.
 */
#include "cli.h"
#include "json.h"
#include "launch.h"
#include "library.h"
#include "parse.h"
#include "program.h"

#include "profile/attach/attach.h"
#include "profile/book.h"
#include "profile/reports.h"
#include "report/page.h"

#include "src/park/clock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLE = 16, FORMATS = 5 };

typedef struct request {
    const char *lock, *wait;
    uint32_t depth;
    const char *paths[FORMATS]; /* NULL: not asked for; "-": standard output */
    int command;                /* its place in argv, or 0 */
    uint32_t pid;               /* of a process to attach to, or 0 */
    uint64_t for_ns;            /* 0: as long as it runs */
} request;

static void write_json(output *o, const json_t *document)
{
    output_json(o, json_incref((json_t *)document));
}

/* The first is for people. */
static const struct {
    const char *option;
    int key;
    void (*write)(output *o, const json_t *document);
} formats[FORMATS] = {
    {"--output", 'o', profile_text},           {"--json", 'j', write_json},
    {"--html", 'h' + 256, page_write_profile}, {"--folded", 'f', profile_folded},
    {"--trace", 't', profile_trace},
};

/* ---- the program */

static volatile pid_t program;

static void pass_on(int signal)
{
    if (program > 0)
        kill(program, signal);
}

/* A terminal sends SIGINT and SIGQUIT to the program, too; this process stays to write the report. */
static void prepare_signals(void)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaction(passed[i], &(struct sigaction){.sa_handler = pass_on, .sa_flags = SA_RESTART}, NULL);
}

static int run(char **argv)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* until there is a program to pass them on to */
    struct sigaction interrupt, quit;
    sigaction(SIGINT, NULL, &interrupt);
    sigaction(SIGQUIT, NULL, &quit);
    fflush(NULL);
    program = fork();
    if (program < 0)
        fail("'%s': %s", argv[0], strerror(errno));
    if (program == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        launch_exec(argv);
    }
    prepare_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status;
    while (waitpid(program, &status, 0) < 0)
        if (errno != EINTR)
            fail("'%s': %s", argv[0], strerror(errno));
    program = 0;
    return status;
}

/* ---- what it left */

static void describe_end(json_t *document, int status)
{
    char text[64];
    json_object_set_new(document, "end", json_string(launch_end(status, text, sizeof text)));
}

/* One that can't be written does not keep the others from it. */
static bool write_reports(const request *r, const json_t *document)
{
    bool any = false, all = true;
    for (int i = 0; i < FORMATS; i++) {
        if (r->paths[i] == NULL)
            continue;
        output o;
        output_open(&o, strcmp(r->paths[i], "-") != 0 ? r->paths[i] : NULL);
        o.option = formats[i].option;
        formats[i].write(&o, document);
        all = output_try_close(&o) && all;
        any = true;
    }
    if (any)
        return all;
    output o;
    output_open(&o, "/dev/stderr");
    profile_text(&o, document);
    return output_try_close(&o);
}

/* ---- the command */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    for (int i = 0; i < FORMATS; i++)
        if (key == formats[i].key) {
            if (*argument == '\0')
                fail("%s '': no file named", formats[i].option);
            r->paths[i] = argument;
            return 0;
        }
    switch (key) {
    case 'l':
        r->lock = argument;
        return 0;
    case 'w':
        r->wait = policy_name(parse_policy("--wait", argument));
        return 0;
    case 'd':
        r->depth = (uint32_t)parse_number("--depth", argument, 1, STATS_DEPTH);
        return 0;
    case 'p':
        r->pid = (uint32_t)parse_number("--pid", argument, 1, INT32_MAX);
        return 0;
    case 'F':
        r->for_ns = parse_duration("--for", argument);
        return 0;
    case ARGP_KEY_ARG:
        r->command = state->next - 1;
        state->next = state->argc;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the report to FILE; without any file it goes to standard error", 0},
    {"json", 'j', "FILE", 0, "Write the profile as JSON; '-' is standard output, here and below", 0},
    {"html", 'h' + 256, "FILE", 0, "Write it as a page, with a flame graph of the time waited", 0},
    {"folded", 'f', "FILE", 0, "Write folded stacks, for flame graph tools", 0},
    {"trace", 't', "FILE", 0, "Write the longest waits as Chrome's trace events, for Perfetto", 0},
    {"lock", 'l', "NAME", 0, "The lock under the program (pawl_mutex)", 1},
    {"wait", 'w', "POLICY", 0, "How threads wait: spin, yield or park (park)", 1},
    {"depth", 'd', "N", 0, "Frames of a stack to keep, from 1, only the call, to 32 (32)", 1},
    {"pid", 'p', "PID", 0, "Run nothing, but watch the process PID, as root", 2},
    {"for", 'F', "TIME", 0, "With --pid: for so long, such as 10s (until it ends, or Ctrl-C)", 2},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .args_doc = "[--] COMMAND [ARGUMENT...]\n--pid PID",
                                 .doc = "Run a command and show which locks its threads waited for, on which "
                                        "stack, and on which stack the thread "
                                        "that held the lock had acquired it. Nothing is recompiled. There is "
                                        "a report however the command ends.",
                                 .children = common_options};

static char *join(char **argv)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; f != NULL && argv[i] != NULL; i++)
        fprintf(f, "%s%s", i > 0 ? " " : "", argv[i]);
    if (f == NULL || fclose(f) != 0)
        fail("out of memory");
    return text;
}

static void check_outputs(const request *r)
{
    for (int i = 0; i < FORMATS; i++) {
        if (r->paths[i] == NULL)
            continue;
        for (int k = 0; k < i; k++)
            if (r->paths[k] != NULL && output_is_same(r->paths[i], r->paths[k]))
                fail("%s '%s': %s goes there, too", formats[i].option, r->paths[i], formats[k].option);
        if (strcmp(r->paths[i], "-") != 0)
            output_check_as(formats[i].option, r->paths[i]);
    }
}

/* A process that runs already. */
static int watch(const request *r, char **argv)
{
    if (r->command != 0)
        fail("--pid: takes no command, but there is '%s'", argv[r->command]);
    if (r->lock != NULL || r->wait != NULL)
        fail("--%s: not with --pid: a process that runs keeps its locks", r->lock != NULL ? "lock" : "wait");
    int process = attach_check(r->pid);
    check_outputs(r);
    char command[32];
    snprintf(command, sizeof command, "-p %u", (unsigned)r->pid);
    json_t *document = document_new(command);
    attach_run(&(attachment){r->pid, process, r->for_ns, r->depth}, document);
    document_finish(document);
    bool written = write_reports(r, document);
    json_decref(document);
    return written ? EXIT_SUCCESS : EXIT_CANNOT;
}

/* NULL if not even the first program was started. */
static json_t *read_tables(char **argv, int book, uint64_t origin_ns, int status)
{
    char *command = join(argv);
    json_t *document = document_new(command);
    free(command);
    uint64_t end_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    describe_end(document, status);
    json_object_set_new(document, "elapsed_ns", json_integer((json_int_t)(end_ns - origin_ns)));
    size_t tables = profile_book_add(book, document, origin_ns, end_ns);
    document_finish(document);
    if (tables > 0 || WIFSIGNALED(status) ||
        (WEXITSTATUS(status) != NOT_FOUND && WEXITSTATUS(status) != CANNOT_EXECUTE))
        return document;
    json_decref(document);
    return NULL;
}

int profile_main(int argc, char **argv)
{
    request r = {.depth = STATS_DEPTH};
    parse_options(&argp, argc, argv, ARGP_IN_ORDER, &r);
    if (r.pid != 0)
        return watch(&r, argv);
    if (r.for_ns != 0)
        fail("--for: only with --pid");
    if (r.lock == NULL)
        r.lock = launch_default_lock;
    char library[PATH_MAX], program_path[PATH_MAX];
    launch_check(r.lock, r.command != 0 ? argv[r.command] : NULL, library, sizeof library);
    if (r.command == 0)
        fail("no command given; see '%s --help'", argv[0]);
    check_outputs(&r);
    if (r.wait != NULL)
        launch_set("PAWL_WAIT", r.wait);
    library_preload(library);
    char path[64];
    int book = profile_book_make(r.depth, SAMPLE, path, sizeof path);
    launch_set("PAWL_PROFILE", path);
    unsetenv("PAWL_STATS");
    if (!program_find(argv[r.command], program_path, sizeof program_path))
        launch_exec(argv + r.command); /* which says why */
    uint64_t origin = pawl_nanoseconds(CLOCK_MONOTONIC);
    int status = run(argv + r.command);
    json_t *document = read_tables(argv + r.command, book, origin, status);
    bool written = document == NULL || write_reports(&r, document);
    json_decref(document);
    if (!written)
        return EXIT_CANNOT;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
