/* output.h - where a command's result goes: standard output, or a file that appears whole or not at all */
#pragma once

#include "cli.h"

typedef struct output {
    FILE *file; /* in memory until output_close() */
    char *text;
    size_t size;
    const char *path;   /* NULL for standard output */
    const char *option; /* that named the path, for errors */
} output;

/* Fails now if the path (NULL: standard output) could not be written later, before hours of measurement. */
void output_check(const char *path);

/* The same for a path that an option other than --output named. */
void output_check_as(const char *option, const char *path);

/* Fails if the path is that of the input, which would overwrite hours of measurement. */
void output_check_apart(const char *path, const char *input);

/* Whether both paths are those of one file, there or not yet; '-' is standard output. Not if it is a device or a pipe. */
bool output_is_same(const char *a, const char *b);

void output_open(output *o, const char *path);

/* Fails, and leaves nothing behind, if anything could not be written. */
void output_close(output *o);

/* The same, but only says so, and returns false: there is more to write. */
bool output_try_close(output *o);

/* Characters in a line: the terminal's, or 120 if the output is none. */
unsigned output_width(const output *o);
