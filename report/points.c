/* points.c - which points are alike, and what their runs say */
#include "results.h"

#include <math.h>
#include <string.h>

bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool same_load(const point *a, const point *b)
{
    return a->threads == b->threads && same_text(a->pin, b->pin) && same_text(a->variant, b->variant);
}

bool same_point(const point *a, const point *b)
{
    return same_load(a, b) && same_text(a->lock, b->lock);
}

bool same_machine(const results *a, const results *b)
{
    static const char *const members[] = {"cpu", "cpus", "kernel"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *x = json_object_get(a->machine, members[i]), *y = json_object_get(b->machine, members[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

double run_value(const point *p, size_t i, size_t field)
{
    return *(const double *)((const char *)&p->runs[i] + field);
}

size_t run_values(const point *p, size_t field, double *to)
{
    size_t count = 0;
    for (size_t i = 0; i < p->run_count; i++) {
        double value = run_value(p, i, field);
        if (!isnan(value))
            to[count++] = value;
    }
    return count;
}

json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void append(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) != 0) /* NULL, too, is how jansson says out of memory */
        fail("out of memory");
}
