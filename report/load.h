/* load.h - JSON from a file, or one line that says why not */
#pragma once

#include "cli/cli.h"

#include <jansson.h>

/* `pawl: PATH: why`, then exit(EXIT_CANNOT). */
_Noreturn void refuse(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Refuses what is no file, empty, or no JSON. */
json_t *load_json(const char *path);
