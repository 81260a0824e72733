/* program.h - the file behind a command, and what keeps the dynamic linker from preloading into it */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The file that execvp() would start; false if there is none. */
bool program_find(const char *command, char *path, size_t size);

/* Why LD_PRELOAD would have no effect on the program or on the interpreter of a script, or NULL. */
const char *program_obstacle(const char *path);
