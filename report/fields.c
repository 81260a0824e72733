/* fields.c - reads members of JSON objects, and refuses what they must not be */
#include "fields.h"

#include "load.h"

#include <math.h>
#include <stdlib.h>

_Noreturn void refuse_member(const place *at, const char *name, const char *why)
{
    refuse(at->path, "%s%s%s: %s", at->name, at->name[0] != '\0' ? "." : "", name, why);
}

static const char *const expected[] = {
    [TEXT] = "must be a string of one line",
    [TEXT_OR_NULL] = "must be a string of one line, or null",
    [AMOUNT] = "must be a number from 0",
    [AMOUNT_OR_NULL] = "must be a number from 0, or null",
    [AMOUNT_OR_ABSENT] = "must be a number from 0, or null",
    [SHARE_OR_NULL] = "must be a number from 0 to 1, or null",
    [COUNT] = "must be a whole number from 1",
    [BOOLEAN] = "must be true or false",
    [LIST] = "must be an array",
    [OBJECT] = "must be an object",
};

bool is_line(const json_t *value)
{
    const char *text = json_string_value(value);
    for (; text != NULL && *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return text != NULL;
}

bool take_number(json_t *value, kind kind, double *to)
{
    *to = json_is_null(value) ? NAN : json_number_value(value);
    if (json_is_null(value))
        return kind != AMOUNT;
    return json_is_number(value) && *to >= 0 && (kind != SHARE_OR_NULL || *to <= 1);
}

/* Whether the value is of the kind; then it is stored. */
static bool take(json_t *value, kind kind, void *to)
{
    switch (kind) {
    case TEXT:
    case TEXT_OR_NULL:
        *(const char **)to = json_string_value(value);
        return is_line(value) || (kind == TEXT_OR_NULL && json_is_null(value));
    case AMOUNT:
    case AMOUNT_OR_NULL:
    case AMOUNT_OR_ABSENT:
    case SHARE_OR_NULL:
        return take_number(value, kind, to);
    case COUNT:
        *(unsigned *)to = (unsigned)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 1 &&
               json_integer_value(value) <= INT32_MAX;
    case BOOLEAN:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value);
    case LIST:
        *(json_t **)to = value;
        return json_is_array(value);
    case OBJECT:
        *(json_t **)to = value;
        return json_is_object(value);
    }
    return false;
}

void read_fields(const place *at, json_t *object, const field *fields, size_t count, void *to)
{
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(object, fields[i].name);
        if (value == NULL && fields[i].kind == AMOUNT_OR_ABSENT)
            value = json_null();
        if (value == NULL)
            refuse_member(at, fields[i].name, "missing");
        if (!take(value, fields[i].kind, (char *)to + fields[i].offset))
            refuse_member(at, fields[i].name, expected[fields[i].kind]);
    }
}

void *read_array(const place *at, json_t *object, const char *array_name, size_t size, size_t *count,
                 void (*read)(const place *at, json_t *item, void *to))
{
    json_t *array = json_object_get(object, array_name);
    if (!json_is_array(array))
        refuse_member(at, array_name, array == NULL ? "missing" : expected[LIST]);
    *count = json_array_size(array);
    if (*count == 0)
        refuse_member(at, array_name, "is empty");
    char *items = allocate(*count, size);
    for (size_t i = 0; i < *count; i++) {
        json_t *item = json_array_get(array, i);
        char *name;
        if (asprintf(&name, "%s%s%s[%zu]", at->name, at->name[0] != '\0' ? "." : "", array_name, i) < 0)
            fail("out of memory");
        place here = {.path = at->path, .name = name};
        if (!json_is_object(item))
            refuse(at->path, "%s: %s", name, expected[OBJECT]);
        read(&here, item, items + i * size);
        free(name);
    }
    return items;
}
