/* parts.c - a check in parts: shards, and their results merged */
#include "parts.h"
#include "../cli/parse.h"

#include <stdlib.h>

int parts_take_shard(subject *subjects, int count, const char *shard)
{
    uint64_t part, parts;
    parse_shard("--shard", shard, &part, &parts);
    int kept = 0;
    for (int i = (int)part - 1; i < count; i += (int)parts)
        subjects[kept++] = subjects[i];
    return kept;
}

static json_t *member(const char *file, json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (value == NULL)
        fail("--merge: %s: not written by 'pawl check --json'", file);
    return value;
}

/* Every lock with what was found, in the form that the report reads. */
static bool are_findings(json_t *locks, const char *key)
{
    size_t i, k;
    json_t *lock, *one;
    json_array_foreach (locks, i, lock) {
        json_array_foreach (json_object_get(lock, key), k, one)
            if (!json_is_string(json_object_get(one, "verdict")))
                return false;
        if (!json_is_string(json_object_get(lock, "lock")) || !json_is_array(json_object_get(lock, key)))
            return false;
    }
    return json_is_array(locks);
}

static bool is_mutations(json_t *result)
{
    const char *check = json_string_value(json_object_get(result, "check"));
    return check != NULL && strcmp(check, "mutations") == 0;
}

/* One file's result, after those before it: the same check of the same locks, with the same bounds. */
static json_t *load(const char *file, json_t *first)
{
    static const struct {
        const char *key, *differs;
    } same[] = {{"check", "another check than"},
                {"pawl", "of another version than"},
                {"commit", "of another commit than"},
                {"bounds", "with other bounds than"}};
    json_error_t error;
    json_t *result = json_load_file(file, 0, &error);
    if (result == NULL)
        fail("--merge: %s: %s", file, error.text);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        json_t *value = member(file, result, same[i].key);
        if (first != NULL && !json_equal(value, json_object_get(first, same[i].key)))
            fail("--merge: %s: %s in the files before it", file, same[i].differs);
    }
    if (!are_findings(member(file, result, "locks"), is_mutations(result) ? "mutations" : "cases"))
        fail("--merge: %s: not written by 'pawl check --json'", file);
    return result;
}

static int integer(json_t *bounds, const char *key)
{
    return (int)json_integer_value(json_object_get(bounds, key));
}

/* Texts stay those of the result. */
static check_options options_of(json_t *result)
{
    json_t *bounds = json_object_get(result, "bounds");
    const char *name = json_string_value(json_object_get(bounds, "profile"));
    return (check_options){.profile = {.name = name != NULL ? name : "?",
                                       .preemptions = integer(bounds, "preemptions"),
                                       .stale = integer(bounds, "stale"),
                                       .inserts = integer(bounds, "inserts"),
                                       .spurious = integer(bounds, "spurious")},
                           .scenario = json_string_value(json_object_get(bounds, "scenario")),
                           .threads = integer(bounds, "threads"),
                           .iterations = integer(bounds, "iterations"),
                           .locks = integer(bounds, "locks"),
                           .slots = (uint32_t)integer(bounds, "slots"),
                           .seed = (uint64_t)json_integer_value(json_object_get(bounds, "seed")),
                           .exhaustive = json_is_true(json_object_get(bounds, "exhaustive"))};
}

/* The result for a unit, of which there must be one. */
static json_t *find(json_t **results, char **files, int file_count, const char *unit)
{
    json_t *found = NULL, *lock;
    for (int i = 0; i < file_count; i++) {
        size_t k;
        json_array_foreach (json_object_get(results[i], "locks"), k, lock) {
            const char *name = json_string_value(json_object_get(lock, "lock"));
            if (name == NULL || strcmp(name, unit) != 0)
                continue;
            if (found != NULL)
                fail("--merge: %s: there is a result for %s in a file before it", files[i], unit);
            found = lock;
        }
    }
    if (found == NULL)
        fail("--merge: there is no result for %s", unit);
    return found;
}

bool parts_merge(char **files, int file_count, const subject *subjects, int count, output *to, bool json)
{
    if (file_count == 0)
        fail("--merge: no files given");
    json_t **results = allocate((size_t)file_count, sizeof *results);
    double seconds = 0;
    for (int i = 0; i < file_count; i++) {
        results[i] = load(files[i], i > 0 ? results[0] : NULL);
        seconds += json_number_value(json_object_get(results[i], "seconds"));
    }
    check_options options = options_of(results[0]);
    report rep;
    report_begin(&rep, to, &options, is_mutations(results[0]), json);
    rep.started -= seconds; /* of all machines together */
    for (int i = 0; i < count; i++)
        report_add(&rep, find(results, files, file_count, subjects[i].name));
    bool well = report_end(&rep);
    for (int i = 0; i < file_count; i++)
        json_decref(results[i]);
    free(results);
    return well;
}
