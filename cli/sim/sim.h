/* sim.h - what the parts of `pawl sim` share */
#pragma once

#include "cli/bench/bench.h"

#include "sim/machine.h"

/* machine.c: finds --machine and what changes it among the arguments, before any other option depends on them; and the
 * options themselves, for --help. */
void choose_machine(int argc, char **argv);
extern const struct argp machine_argp;

/* machine.c: by its name or its file, one of those built in, and a line that changes it. They fail if something is wrong. */
void load_machine(const char *name);
const sim_builtin *builtin_machine(const char *name);
void change_machine(const char *line);

/* lines.c: a table of the lines that moved. */
void lines_text(output *o, const study *s);

/* table.c: misses of all objects, upgrades included; and a lock by its name. */
double simulated_misses(const bench_run *run);
const subject *simulated_subject(const char *name);

/* The commands. */
int table_main(int argc, char **argv);
int figures_main(int argc, char **argv);
int machines_main(int argc, char **argv);
