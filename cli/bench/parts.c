/* parts.c - a sweep in parts, on several machines of one kind
 *
 * A unit is a load: all locks with as many threads, doing the same. They are compared with one another, so one machine
 * measures them, in turns.
 */
#include "bench.h"

#include "cli/json.h"
#include "cli/parse.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_unit(const point *a, const point *b)
{
    return a->request.threads == b->request.threads && same_text(a->variant, b->variant);
}

/* Each point's unit, numbered from 0 in the order of the points. Returns how many they are. */
static size_t number_units(const study *s, size_t *unit)
{
    size_t count = 0;
    for (size_t i = 0; i < s->point_count; i++) {
        size_t k = 0;
        while (k < i && !same_unit(&s->points[k], &s->points[i]))
            k++;
        unit[i] = k < i ? unit[k] : count++;
    }
    return count;
}

void parts_take_shard(study *s)
{
    if (s->shard == NULL)
        return;
    parse_shard("--shard", s->shard, &s->part, &s->parts);
    size_t *unit = allocate(s->point_count + 1, sizeof *unit), kept = 0;
    s->units_of_all = number_units(s, unit);
    for (size_t i = 0; i < s->point_count; i++)
        if (unit[i] % s->parts == s->part - 1)
            s->points[kept++] = s->points[i];
        else
            free(s->points[i].samples);
    free(unit);
    s->point_count = kept;
    if (kept == 0)
        fail("--shard '%s': has no unit", s->shard);
}

/* One per line: "4 threads", "16 threads, long sections". */
void parts_list(output *o, const study *s)
{
    size_t *unit = allocate(s->point_count + 1, sizeof *unit), next = 0;
    number_units(s, unit);
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        if (unit[i] != next)
            continue;
        next++;
        fprintf(o->file, "%u thread%s%s%s\n", p->request.threads, p->request.threads == 1 ? "" : "s",
                p->variant != NULL ? ", " : "", p->variant != NULL ? p->variant : "");
    }
    free(unit);
}

/* ---- results */

/* What must be the same in all parts. */
static const char *const common[] = {"pawl", "format", "workload", "preset", "parameters", "machine", "unit"};

/* What the reports need of a point. */
static bool are_points(json_t *points)
{
    size_t i;
    json_t *p;
    json_array_foreach (points, i, p)
        if (!json_is_string(json_object_get(p, "lock")) || !json_is_integer(json_object_get(p, "threads")) ||
            !json_is_array(json_object_get(p, "runs")))
            return false;
    return json_array_size(points) > 0;
}

static json_t *load(const study *s, const char *file, json_t *first)
{
    json_error_t error;
    json_t *part = json_load_file(file, 0, &error);
    if (part == NULL)
        fail("--merge: %s: %s", file, error.text);
    const char *workload = json_string_value(json_object_get(part, "workload"));
    if (!are_points(json_object_get(part, "points")) || workload == NULL)
        fail("--merge: %s: not written by 'pawl bench --json'", file);
    if (strcmp(workload, s->workload->name) != 0)
        fail("--merge: %s: of %s, not of %s", file, workload, s->workload->name);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        json_t *value = json_object_get(part, common[i]);
        if (value == NULL)
            fail("--merge: %s: not written by 'pawl bench --json'", file);
        if (first != NULL && !json_equal(value, json_object_get(first, common[i])))
            fail("--merge: %s: its %s differs from that of the files before it", file, common[i]);
    }
    return part;
}

/* A member of what a file says about the part it is; 0 if it is none. */
static json_int_t of_part(json_t *result, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(result, "part"), key));
}

/* Parts of one division, and all that have units. Files that are no parts may be joined, too. */
static void expect_all_parts(json_t **results, char **files, size_t count)
{
    json_int_t parts = of_part(results[0], "parts"), units = of_part(results[0], "units");
    for (size_t i = 1; i < count; i++)
        if (of_part(results[i], "parts") != parts || of_part(results[i], "units") != units)
            fail("--merge: %s: not a part of the same whole as the files before it", files[i]);
    for (json_int_t wanted = 1; wanted <= parts && wanted <= units; wanted++) {
        size_t i = 0;
        while (i < count && of_part(results[i], "number") != wanted)
            i++;
        if (i == count)
            fail("--merge: part %lld of %lld is missing", (long long)wanted, (long long)parts);
    }
}

static bool same_point(json_t *a, json_t *b)
{
    static const char *const keys[] = {"lock", "threads", "variant", "pin"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

static void add_points(json_t *to, json_t *from, const char *file)
{
    size_t i, k;
    json_t *point, *other;
    json_array_foreach (from, i, point) {
        json_array_foreach (to, k, other)
            if (same_point(point, other))
                fail("--merge: %s: there is a result for %s with %lld threads in a file before it", file,
                     json_string_value(json_object_get(point, "lock")),
                     (long long)json_integer_value(json_object_get(point, "threads")));
        json_array_append(to, point);
    }
}

static void add_doubts(json_t *to, json_t *from)
{
    size_t i, k;
    json_t *text, *other;
    json_array_foreach (from, i, text) {
        bool known = false;
        json_array_foreach (to, k, other)
            known |= json_equal(text, other);
        if (!known)
            json_array_append(to, text);
    }
}

void parts_merge(output *o, const study *s)
{
    if (s->file_count == 0)
        fail("--merge: no files given");
    json_t **results = allocate(s->file_count, sizeof *results), *all;
    for (size_t i = 0; i < s->file_count; i++)
        results[i] = load(s, s->files[i], i > 0 ? results[0] : NULL);
    all = results[0];
    for (size_t i = 1; i < s->file_count; i++) {
        json_t *part = results[i];
        add_points(json_object_get(all, "points"), json_object_get(part, "points"), s->files[i]);
        add_doubts(json_object_get(all, "doubts"), json_object_get(part, "doubts"));
        json_t *least = json_object_get(part, "harness_ns");
        if (json_number_value(least) < json_number_value(json_object_get(all, "harness_ns")))
            json_object_set(all, "harness_ns", least);
    }
    expect_all_parts(results, s->files, s->file_count);
    for (size_t i = 1; i < s->file_count; i++)
        json_decref(results[i]);
    free(results);
    json_object_del(all, "part");
    output_json(o, all);
}
