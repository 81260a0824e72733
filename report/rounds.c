/* rounds.c - runs of the same round, and the lock that others are related to */
#include "rounds.h"

#include <math.h>
#include <string.h>

static const char *const references[] = {"glibc", "glibc_normal", "pthread"};

const char *reference_lock(const results *r)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        for (size_t k = 0; k < r->count; k++)
            if (strcmp(r->points[k].lock, references[i]) == 0)
                return references[i];
    return NULL;
}

const point *find_reference(const results *r, const point *load)
{
    const char *name = reference_lock(r);
    for (size_t i = 0; i < r->count && name != NULL; i++)
        if (same_load(&r->points[i], load) && strcmp(r->points[i].lock, name) == 0)
            return &r->points[i];
    return NULL;
}

/* A run that fails ends `pawl bench`, so no round is missing in what one run of it wrote. Files that it did not write so
 * may have points that differ in their number of runs. Points that `pawl bench --merge` joined may be of different runs of
 * it, which the file does not tell; they are paired by index, at random. */
bool have_same_rounds(const point *a, const point *b)
{
    return a->run_count == b->run_count;
}

size_t round_quotients(const point *a, const point *b, size_t field, double *to)
{
    for (size_t i = 0; i < a->run_count; i++) {
        to[i] = run_value(a, i, field) / run_value(b, i, field);
        if (!isfinite(to[i]))
            return 0;
    }
    return a->run_count;
}
