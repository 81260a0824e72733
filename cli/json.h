/* json.h - JSON as a command's result */
#pragma once

#include "output.h"

#include <jansson.h>

/* Writes the value and a newline, and gives it back. Fails on NULL, which is how jansson says out of memory.
 */
void output_json(output *o, json_t *value);
