/* cli.h - what the subcommands of `pawl` share
 *
 * Exit status: 0; 1 if what was asked for was done and the answer is bad news; 2 if it could not be done.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_BAD_NEWS = 1, EXIT_CANNOT = 2 };

/* error.c: one line on standard error, `pawl: ...`, then exit(EXIT_CANNOT). */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same line, but the command goes on. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory, or fail(). */
void *allocate(size_t count, size_t size);

/* dispatch.c: a command that is a choice of commands, such as `pawl` and `pawl bench`. */
typedef struct command {
    const char *name;
    const char *help;                  /* one line */
    int (*run)(int argc, char **argv); /* argv[0] is the command with all that leads to it: "pawl list" */
} command;

typedef struct command_set {
    const char *kind;  /* what its members are called: "command" */
    const char *usage; /* "COMMAND [ARGUMENT...]" */
    const char *doc;
    const command *commands; /* ends with a name of NULL */
} command_set;

int dispatch(const command_set *set, int argc, char **argv);

/* options.c: the children of every argp (--help, --version, errors of one line), and how it is parsed. The flags may
 * include ARGP_IN_ORDER. */
extern const struct argp_child common_options[];
void parse_options(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* main.c: the signals as the caller of `pawl` left them, for a program that replaces it. */
void restore_signals(void);

/* The subcommands. */
int list_main(int argc, char **argv);
int check_main(int argc, char **argv);
int run_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int sim_main(int argc, char **argv);
int report_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int hint_main(int argc, char **argv);
int demo_main(int argc, char **argv);
int profile_main(int argc, char **argv);
int top_main(int argc, char **argv);
int tune_main(int argc, char **argv);
