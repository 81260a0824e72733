/* folded.c - a profile as folded stacks, and as Chrome's trace events */
#include "reports.h"
#include "utf8.h"

#include "cli/json.h"

#include <string.h>

/* A semicolon separates frames, a newline stacks. */
static void put(FILE *to, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(*text == ';' || *text == '\n' ? ':' : *text, to);
}

static void put_frames(FILE *to, const json_t *d, const json_t *stack)
{
    char room[PLACE_ROOM];
    json_t *places = json_object_get(stack, "frames"), *frames = json_object_get(d, "frames");
    for (size_t i = json_array_size(places); i-- > 0;) {
        fputc(';', to);
        put(to,
            place_text(json_array_get(frames, (size_t)json_integer_value(json_array_get(places, i))), room));
    }
}

void profile_folded(output *o, const json_t *d)
{
    json_t *wait;
    size_t i;
    char room[PLACE_ROOM];
    json_array_foreach (json_object_get(d, "waits"), i, wait) {
        const json_t *lock = item_of(d, "locks", wait, "lock");
        put(o->file, text_in(lock, "name"));
        put_frames(o->file, d, item_of(d, "stacks", wait, "waiter"));
        const json_t *holder = item_of(d, "stacks", wait, "holder");
        if (holder != NULL) {
            fputs(names_waker(d, lock) ? ";woken by " : ";blocked by ", o->file);
            put(o->file, site_text(d, holder, room));
        }
        fprintf(o->file, " %lld\n", (long long)number_in(wait, "total_ns"));
    }
}

/* ---- trace events */

static json_t *stack_lines(const json_t *d, const json_t *stack)
{
    json_t *lines = json_array(), *place;
    size_t i;
    char room[PLACE_ROOM];
    json_array_foreach (json_object_get(stack, "frames"), i, place) {
        const json_t *frame = json_array_get(json_object_get(d, "frames"), (size_t)json_integer_value(place));
        json_array_append_new(lines, utf8_json(place_text(frame, room)));
    }
    return lines;
}

static void append_event(json_t *events, json_t *event)
{
    if (event == NULL || json_array_append_new(events, event) != 0)
        fail("out of memory");
}

static json_t *title_of(const char *what, const char *name)
{
    char title[PLACE_ROOM + 64];
    snprintf(title, sizeof title, "%s %s", what, name);
    title[utf8_cut(title, sizeof title - 1)] = '\0';
    return utf8_json(title);
}

static double microseconds(json_int_t ns)
{
    return (double)ns / 1e3;
}

/* On the thread that waited: its waits follow each other, or are one in the other. */
static void add_wait(json_t *events, const json_t *d, const json_t *w)
{
    const json_t *lock = item_of(d, "locks", w, "lock"), *holder = item_of(d, "stacks", w, "holder");
    bool woken = names_waker(d, lock), unfinished = json_is_true(json_object_get(w, "unfinished"));
    char room[PLACE_ROOM];
    append_event(events,
                 json_pack("{so ss ss sf sf sI sI s{so so so}}", "name",
                           title_of(unfinished ? "unfinished wait for" : "wait for", text_in(lock, "name")),
                           "cat", "lock", "ph", "X", "ts", microseconds(number_in(w, "start_ns")), "dur",
                           microseconds(number_in(w, "waited_ns")), "pid", number_in(w, "process"), "tid",
                           number_in(w, "waiter_tid"), "args", "stack",
                           stack_lines(d, item_of(d, "stacks", w, "waiter")),
                           woken ? "woken by" : "blocked by", utf8_json(site_text(d, holder, room)),
                           woken ? "waker" : "holder", stack_lines(d, holder)));
}

/* Asynchronous, on a track of its own: one hold blocks several, and its thread may wait or hold something else meanwhile. Slices of a
 * thread must not overlap. */
static void add_hold(json_t *events, const json_t *d, const json_t *w, size_t number)
{
    const json_t *lock = item_of(d, "locks", w, "lock");
    json_int_t start = number_in(w, "start_ns"), since = number_in(w, "held_since_ns");
    if (number_in(w, "holder_tid") == 0 || names_waker(d, lock))
        return;
    for (int end = 0; end < 2; end++)
        append_event(events, json_pack("{so ss ss sI sf sI sI s{so}}", "name",
                                       title_of("holds", text_in(lock, "name")), "cat", "hold", "ph",
                                       end ? "e" : "b", "id", (json_int_t)number + 1, "ts",
                                       microseconds(end ? start + number_in(w, "waited_ns")
                                                    : since >= 0 && since < start ? since
                                                                                  : start),
                                       "pid", number_in(w, "process"), "tid", number_in(w, "holder_tid"),
                                       "args", "stack", stack_lines(d, item_of(d, "stacks", w, "holder"))));
}

static json_t *name_event(const char *what, json_int_t pid, json_int_t tid, const char *name)
{
    return json_pack("{ss ss sI sI s{so}}", "name", what, "ph", "M", "pid", pid, "tid", tid, "args", "name",
                     utf8_json(name));
}

void profile_trace(output *o, const json_t *d)
{
    json_t *events = json_array(), *item;
    size_t i;
    json_array_foreach (json_object_get(d, "processes"), i, item)
        append_event(events, name_event("process_name", number_in(item, "pid"), number_in(item, "pid"),
                                        text_in(item, "program")));
    json_array_foreach (json_object_get(d, "worst"), i, item) {
        if (*text_in(item, "thread") != '\0')
            append_event(events, name_event("thread_name", number_in(item, "process"),
                                            number_in(item, "waiter_tid"), text_in(item, "thread")));
        add_wait(events, d, item);
        add_hold(events, d, item, i);
    }
    /* Without displayTimeUnit, which older versions of Perfetto take for the unit of the times. */
    output_json(o, json_pack("{so}", "traceEvents", events));
}
