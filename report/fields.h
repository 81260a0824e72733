/* fields.h - members of JSON objects, read into structs
 *
 * What does not fit ends the program, with a line that names the file, the member, and what it must be.
 */
#pragma once

#include "cli/cli.h"

#include <jansson.h>

/* Where in a file the reader is, for errors: "points[3].runs[0]", or "". */
typedef struct place {
    const char *path;
    const char *name;
} place;

_Noreturn void refuse_member(const place *at, const char *name, const char *why);

typedef enum kind {
    TEXT,
    TEXT_OR_NULL,
    AMOUNT,
    AMOUNT_OR_NULL,
    AMOUNT_OR_ABSENT, /* or null; files from before there was such a number are read, too */
    SHARE_OR_NULL,
    COUNT,
    BOOLEAN,
    LIST,
    OBJECT
} kind;

/* A member of a JSON object, and where in a struct it goes. */
typedef struct field {
    const char *name;
    kind kind;
    size_t offset;
} field;

/* One line of text: control characters would reach a terminal. */
bool is_line(const json_t *value);

/* Whether the value is a number of this kind; then it is stored. */
bool take_number(json_t *value, kind kind, double *to);

void read_fields(const place *at, json_t *object, const field *fields, size_t count, void *to);

#define READ_FIELDS(at, object, fields, to)                                                                  \
    read_fields(at, object, fields, sizeof fields / sizeof fields[0], to)

/* The items of an array, each read into an element of the returned one. */
void *read_array(const place *at, json_t *object, const char *array_name, size_t size, size_t *count,
                 void (*read)(const place *at, json_t *item, void *to));
