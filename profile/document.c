/* document.c - a profile, piece by piece */
#include "document.h"
#include "sites.h"
#include "utf8.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

json_t *document_new(const char *command)
{
    json_t *d = json_pack("{ss si s[] s[] s[] s[] s[] s[] s[] s{} s{}}", "pawl", PAWL_VERSION, "format", 1,
                          "processes", "locks", "waits", "holds", "worst", "stacks", "frames", "frame_places",
                          "stack_places");
    if (d == NULL || json_object_set_new(d, "command", utf8_json(command)) != 0)
        fail("out of memory");
    return d;
}

/* The place of the value in the array, at its end if it is new. */
static json_int_t place_of(json_t *d, const char *array, const char *places, json_t *value)
{
    char *key = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *known = json_object_get(d, places), *found;
    if (key == NULL)
        fail("out of memory");
    found = json_object_get(known, key);
    json_int_t place = json_integer_value(found);
    if (found == NULL) {
        json_t *list = json_object_get(d, array);
        place = (json_int_t)json_array_size(list);
        if (json_array_append(list, value) != 0 || json_object_set_new(known, key, json_integer(place)) != 0)
            fail("out of memory");
    }
    free(key);
    json_decref(value);
    return place;
}

/* ---- stacks */

json_int_t document_stack(json_t *d, symbols *s, const uint64_t *frames, size_t depth)
{
    json_t *found = json_array(), *places = json_array();
    for (size_t i = 0; i < depth; i++)
        symbols_frames(s, frames[i], found);
    json_int_t site = site_by_name(found);
    for (size_t i = 0; i < json_array_size(found); i++)
        if (json_array_append_new(places, json_integer(place_of(d, "frames", "frame_places",
                                                                json_incref(json_array_get(found, i))))) != 0)
            fail("out of memory");
    json_decref(found);
    return place_of(d, "stacks", "stack_places", json_pack("{sI so}", "site", site, "frames", places));
}

/* ---- order */

static const char *sort_key;

static int by_key(const void *a, const void *b)
{
    json_int_t left = number_in(*(json_t *const *)a, sort_key),
               right = number_in(*(json_t *const *)b, sort_key);
    return (left < right) - (left > right);
}

static void sort(json_t *d, const char *array, const char *key)
{
    json_t *list = json_object_get(d, array), *sorted = json_array();
    size_t count = json_array_size(list);
    json_t **items = allocate(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = json_array_get(list, i);
    sort_key = key;
    qsort(items, count, sizeof *items, by_key);
    for (size_t i = 0; i < count; i++)
        if (json_array_append(sorted, items[i]) != 0)
            fail("out of memory");
    free(items);
    json_object_set_new(d, array, sorted);
}

/* Locks are referred to by their place, which sorting changes. What idle threads wait for comes last. */
static void sort_locks(json_t *d)
{
    static const char *const users[] = {"waits", "holds", "worst"};
    json_t *locks = json_object_get(d, "locks"), *item;
    size_t count = json_array_size(locks), i;
    for (i = 0; i < count; i++) {
        json_t *lock = json_array_get(locks, i);
        json_int_t last = waits_for_event(lock) ? INT64_MIN / 2 : 0;
        json_object_set_new(lock, "before", json_integer((json_int_t)i));
        json_object_set_new(lock, "rank", json_integer(last + number_in(lock, "waited_ns")));
    }
    sort(d, "locks", "rank");
    locks = json_object_get(d, "locks");
    json_int_t *now = allocate(count + 1, sizeof *now);
    for (i = 0; i < count; i++) {
        now[number_in(json_array_get(locks, i), "before")] = (json_int_t)i;
        json_object_del(json_array_get(locks, i), "before");
        json_object_del(json_array_get(locks, i), "rank");
    }
    for (size_t u = 0; u < sizeof users / sizeof users[0]; u++)
        json_array_foreach (json_object_get(d, users[u]), i, item)
            json_object_set_new(item, "lock", json_integer(now[number_in(item, "lock")]));
    free(now);
}

/* After their first uses, of which the sites are known now. */
static void name_locks(json_t *d)
{
    char room[PLACE_ROOM], text[PLACE_ROOM + 64];
    json_t *lock;
    size_t i;
    json_array_foreach (json_object_get(d, "locks"), i, lock) {
        if (json_object_get(lock, "name") != NULL)
            continue;
        snprintf(text, sizeof text, "%s first used in %s", text_in(lock, "kind"),
                 site_text(d, item_of(d, "stacks", lock, "first"), room));
        json_object_set_new(lock, "name", utf8_json(text));
    }
}

void document_finish(json_t *d)
{
    sites_pass_nameless(d);
    name_locks(d);
    json_object_del(d, "frame_places");
    json_object_del(d, "stack_places");
    sort_locks(d);
    sort(d, "waits", "total_ns");
    sort(d, "holds", "total_ns");
    sort(d, "worst", "waited_ns");
}

/* ---- reading it */

json_int_t number_in(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

json_t *item_of(const json_t *d, const char *array, const json_t *object, const char *key)
{
    json_t *place = json_object_get(object, key);
    return json_is_integer(place)
               ? json_array_get(json_object_get(d, array), (size_t)json_integer_value(place))
               : NULL;
}

bool is_attached(const json_t *d)
{
    return json_is_true(json_object_get(d, "attached"));
}

bool waits_for_event(const json_t *lock)
{
    static const char *const kinds[] = {"condition variable", "semaphore", "barrier", "thread's end"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(text_in(lock, "kind"), kinds[i]) == 0)
            return true;
    return false;
}

bool names_waker(const json_t *d, const json_t *lock)
{
    return is_attached(d) || waits_for_event(lock);
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Of a C++ function's name, what comes before its parameters: a line or an offset tells overloads apart. */
static int plain_length(const char *function)
{
    size_t length = strlen(function), at = length;
    if (length > 6 && strcmp(function + length - 6, " const") == 0)
        at -= 6;
    if (at == 0 || function[at - 1] != ')')
        return (int)length;
    for (int depth = 0; at > 0;) {
        at--;
        depth += (function[at] == ')') - (function[at] == '(');
        if (depth == 0)
            break;
    }
    bool is_operator = at >= 8 && strncmp(function + at - 8, "operator", 8) == 0;
    return (int)(at > 0 && !is_operator ? at : length);
}

const char *place_text(const json_t *frame, char *room)
{
    const char *function = text_in(frame, "function"), *file = text_in(frame, "file"),
               *module = text_in(frame, "module"), *offset = text_in(frame, "offset");
    int plain = plain_length(function), length = (int)utf8_cut(function, plain < 400 ? (size_t)plain : 400);
    const char *where = base(*file != '\0' ? file : module);
    int part = (int)utf8_cut(where, *function != '\0' ? 90 : 400);
    if (*function != '\0' && *file != '\0')
        snprintf(room, PLACE_ROOM, "%.*s (%.*s:%d)", length, function, part, where,
                 (int)number_in(frame, "line"));
    else if (*function != '\0' && *module != '\0')
        snprintf(room, PLACE_ROOM, "%.*s (%.*s+%s)", length, function, part, where, offset);
    else if (*function != '\0')
        snprintf(room, PLACE_ROOM, "%.*s", length, function);
    else
        snprintf(room, PLACE_ROOM, "%.*s%s%s", part, where, *module != '\0' ? "+" : "", offset);
    return room;
}

const char *site_text(const json_t *d, const json_t *stack, char *room)
{
    json_t *place = json_array_get(json_object_get(stack, "frames"), (size_t)number_in(stack, "site"));
    if (place == NULL)
        return "?";
    return place_text(json_array_get(json_object_get(d, "frames"), (size_t)json_integer_value(place)), room);
}
