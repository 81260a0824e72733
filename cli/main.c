/* main.c - the `pawl` command */
#include "cli.h"

#include <signal.h>

/* A subcommand is a file and a line here. */
static const command commands[] = {
    {"list", "Show the locks and their properties", list_main},
    {"check", "Check locks against C11's memory model", check_main},
    {"doctor", "Show what this machine offers to locks, and what libpawl makes of it", doctor_main},
    {"run", "Run a program with another lock under it", run_main},
    {"profile", "Find the lock that a program waits for, and who holds it", profile_main},
    {"top", "Watch the locks of a running program", top_main},
    {"tune", "Find the lock that suits a program best", tune_main},
    {"hint", "Let waiting threads know whether others want their CPU", hint_main},
    {"bench", "Measure locks", bench_main},
    {"sim", "Simulate locks on other machines", sim_main},
    {"report", "Show measurements as a page of charts and tables", report_main},
    {"compare", "Show what got faster or slower between two measurements", compare_main},
    {"demo", "Measure all locks on this machine, in less than a minute", demo_main},
    {NULL, NULL, NULL},
};

static const command_set pawl = {
    .kind = "command",
    .usage = "COMMAND [ARGUMENT...]",
    .doc = "Locks with known fairness and cost, and the instruments that show it.",
    .commands = commands,
};

static struct sigaction pipe_before, limit_before;

void restore_signals(void)
{
    sigaction(SIGPIPE, &pipe_before, NULL);
    sigaction(SIGXFSZ, &limit_before, NULL);
}

int main(int argc, char **argv)
{
    /* `pawl list | head` ends quietly, whatever the parent ignored. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_DFL}, &pipe_before);
    /* A result that `ulimit -f` has no room for is an error like that of a full disk. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &limit_before);
    static char name[] = "pawl";
    if (argc > 0)
        argv[0] = name;
    return dispatch(&pawl, argc, argv);
}
