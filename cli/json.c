/* json.c - JSON as a command's result */
#include "json.h"

void output_json(output *o, json_t *value)
{
    if (value == NULL)
        fail("out of memory");
    /* Nine digits are more than a measurement has. */
    if (json_dumpf(value, o->file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0)
        fail("out of memory");
    fputc('\n', o->file);
    json_decref(value);
}
