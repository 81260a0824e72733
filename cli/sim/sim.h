/* sim.h - what the parts of `pawl sim` share */
#pragma once

#include "cli/bench/bench.h"

/* machine.c: finds --machine and what changes it among the arguments, before any other option depends on them; and the
 * options themselves, for --help. */
void choose_machine(int argc, char **argv);
extern const struct argp machine_argp;

/* lines.c: a table of the lines that moved. */
void lines_text(output *o, const study *s);

/* The commands. */
int machines_main(int argc, char **argv);
