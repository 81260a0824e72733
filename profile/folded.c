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

static void add_event(json_t *events, const char *what, const char *name, const json_t *w,
                      json_int_t start_ns, json_int_t end_ns, const char *tid, json_t *arguments)
{
    char title[PLACE_ROOM + 64];
    snprintf(title, sizeof title, "%s %s", what, name);
    title[utf8_cut(title, sizeof title - 1)] = '\0';
    json_t *event = json_pack("{so ss ss sf sf sI sI so}", "name", utf8_json(title), "cat", "lock", "ph", "X",
                              "ts", (double)start_ns / 1e3, "dur", (double)(end_ns - start_ns) / 1e3, "pid",
                              number_in(w, "process"), "tid", number_in(w, tid), "args", arguments);
    if (event == NULL || json_array_append_new(events, event) != 0)
        fail("out of memory");
}

static void add_wait(json_t *events, const json_t *d, const json_t *w)
{
    const json_t *lock = item_of(d, "locks", w, "lock");
    const char *name = text_in(lock, "name");
    bool woken = names_waker(d, lock);
    const json_t *holder = item_of(d, "stacks", w, "holder");
    char room[PLACE_ROOM];
    json_int_t start = number_in(w, "start_ns"), end = start + number_in(w, "waited_ns"),
               since = number_in(w, "held_since_ns");
    add_event(events, json_is_true(json_object_get(w, "unfinished")) ? "unfinished wait for" : "wait for",
              name, w, start, end, "waiter_tid",
              json_pack("{so ss so}", "stack", stack_lines(d, item_of(d, "stacks", w, "waiter")),
                        woken ? "woken by" : "blocked by", site_text(d, holder, room),
                        woken ? "waker" : "holder", stack_lines(d, holder)));
    /* Holders are on a track of their own: one hold may block several, and what it did else is not known. */
    if (number_in(w, "holder_tid") > 0 && !woken)
        add_event(events, "holds", name, w, since >= 0 && since < start ? since : start, end, "holder_tid",
                  json_pack("{so}", "stack", stack_lines(d, holder)));
}

void profile_trace(output *o, const json_t *d)
{
    json_t *events = json_array(), *item;
    size_t i;
    json_array_foreach (json_object_get(d, "processes"), i, item)
        json_array_append_new(events,
                              json_pack("{ss ss sI s{ss}}", "name", "process_name", "ph", "M", "pid",
                                        number_in(item, "pid"), "args", "name", text_in(item, "program")));
    json_array_foreach (json_object_get(d, "worst"), i, item)
        add_wait(events, d, item);
    output_json(o, json_pack("{ss so}", "displayTimeUnit", "ns", "traceEvents", events));
}
