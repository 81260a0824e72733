/* sim.c - `pawl sim`: the workloads of `pawl bench`, on a simulated machine */
#include "sim.h"

#include "sim/answer.h"

#include <signal.h>

static const command commands[] = {
    {"mutexbench", "Threads that do nothing but take one lock", mutexbench_main},
    {"tail", "How long they wait for it: the distribution", tail_main},
    {"schedule", "Who gets it after whom: period, palindromes, bypass, gaps", schedule_main},
    {"occasional", "How long one thread waits that wants it now and then", occasional_main},
    {"condvar", "Producers and consumers at a queue with few places", condvar_main},
    {"grid", "Many of these at once: where a mutex is ahead, and where behind", grid_main},
    {"multiwait", "One thread takes ten locks, the others one of them at random", multiwait_main},
    {"ring", "Threads pass a token, and wait for it in different ways", ring_main},
    {"pingpong", "One cache line between two CPUs", pingpong_main},
    {"table", "The papers' tables of coherence traffic", table_main},
    {"figures", "The papers' figures of throughput", figures_main},
    {"machines", "The machines that are built in, and their files", machines_main},
    {NULL, NULL, NULL},
};

static const command_set sim = {
    .kind = "workload",
    .usage = "WORKLOAD [OPTION...]",
    .doc = "Simulate locks on a machine that need not exist, in virtual time.",
    .commands = commands,
};

static void check_trace(study *s)
{
    if (sim_chosen_trace != NULL && s->point_count != 1)
        fail("--trace: for one lock and one number of threads; there are %zu points", s->point_count);
}

static void mark(study *s)
{
    doubt(&s->doubts, "simulated on a model of %s: nothing was measured", sim_chosen.name);
}

const setting bench_setting = {.options = &machine_argp,
                               .runs = 1,
                               .most_threads = 1024,
                               .duration_ns = 20000000,
                               .begin = check_trace,
                               .judge = mark,
                               .text = lines_text};

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL);
    choose_machine(argc, argv);
    return dispatch(&sim, argc, argv);
}
