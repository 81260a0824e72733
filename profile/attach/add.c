/* add.c - from what the kernel told to the profile */
#include "collected.h"
#include "profile/utf8.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct adding {
    json_t *document;
    const collected *collected;
    symbols *symbols;
    json_int_t *stacks; /* of the samples: their places in the document */
    json_t *locks;      /* from address to place */
    json_t *waits;      /* from lock and stacks to the wait */
} adding;

static void append(const adding *a, const char *array, json_t *item)
{
    if (item == NULL || json_array_append_new(json_object_get(a->document, array), item) != 0)
        fail("out of memory");
}

/* null if it is not known. */
static json_t *stack_of(const adding *a, uint64_t stack)
{
    for (size_t i = 0; i < a->collected->samples_count && stack != 0; i++)
        if (a->collected->samples[i]->stack == stack)
            return json_integer(a->stacks[i]);
    return json_null();
}

/* ---- what a thread waits for, by the function of the C library that it is in */

static const struct {
    const char *part, *kind;
} kinds[] = {
    {"mutex_", "mutex"},
    {"lll_lock", "mutex"},
    {"cond_", "condition variable"},
    {"sem_", "semaphore"},
    {"rwlock_", "reader-writer lock"},
    {"barrier_", "barrier"},
    {"clockjoin", "thread's end"},
    {"pthread_join", "thread's end"},
    {"pthread_once", "once"},
};

/* The innermost tells: a thread that is back from its condition variable waits for the mutex. */
static const char *kind_of(const json_t *d, const json_t *stack)
{
    json_t *place;
    size_t i;
    json_array_foreach (json_object_get(stack, "frames"), i, place) {
        const char *name = text_in(
            json_array_get(json_object_get(d, "frames"), (size_t)json_integer_value(place)), "function");
        bool ours =
            strstr(name, "pthread") != NULL || strstr(name, "lll_") != NULL || strstr(name, "sem_") != NULL;
        for (size_t k = 0; ours && k < sizeof kinds / sizeof kinds[0]; k++)
            if (strstr(name, kinds[k].part) != NULL)
                return kinds[k].kind;
    }
    return "futex";
}

static void name_lock(const adding *a, json_t *lock, uint64_t address, const json_t *stack)
{
    char text[2 * PLACE_ROOM], symbol[PLACE_ROOM], place[PLACE_ROOM];
    if (symbols_data(a->symbols, address, symbol, sizeof symbol))
        snprintf(text, sizeof text, "%s", symbol);
    else
        snprintf(text, sizeof text, "%s at 0x%" PRIx64 ", waited for in %s", text_in(lock, "kind"), address,
                 site_text(a->document, stack, place));
    json_object_set_new(lock, "name", utf8_json(text));
}

/* A condition variable sleeps on either of two words, side by side. */
static json_int_t place_of_lock(adding *a, uint64_t address, uint64_t waiter)
{
    json_t *place = stack_of(a, waiter);
    json_t *stack = json_array_get(json_object_get(a->document, "stacks"), (size_t)json_integer_value(place));
    stack = json_is_integer(place) ? stack : NULL;
    json_decref(place);
    const char *kind = kind_of(a->document, stack);
    char key[32];
    address &= strcmp(kind, "condition variable") == 0 ? ~(uint64_t)7 : ~(uint64_t)0;
    snprintf(key, sizeof key, "0x%" PRIx64, address);
    json_t *known = json_object_get(a->locks, key);
    if (known != NULL)
        return json_integer_value(known);
    json_int_t at = (json_int_t)json_array_size(json_object_get(a->document, "locks"));
    json_t *lock = json_pack("{sI ss ss sn sI sI sI sI}", "process", (json_int_t)a->collected->pid, "kind",
                             kind, "address", key, "acquisitions", "contended", (json_int_t)0, "waited_ns",
                             (json_int_t)0, "worst_ns", (json_int_t)0, "holds_timed", (json_int_t)0);
    if (lock == NULL || json_object_set_new(a->locks, key, json_integer(at)) != 0)
        fail("out of memory");
    name_lock(a, lock, address, stack);
    append(a, "locks", lock);
    return at;
}

/* ---- waits */

static void raise_by(json_t *object, const char *key, uint64_t more)
{
    json_object_set_new(object, key, json_integer(number_in(object, key) + (json_int_t)more));
}

static void add_to_lock(json_t *lock, const struct attach_times *t)
{
    raise_by(lock, "contended", t->count);
    raise_by(lock, "waited_ns", t->total_ns);
    raise_by(lock, "unfinished", t->unfinished);
    if ((json_int_t)t->worst_ns > number_in(lock, "worst_ns"))
        json_object_set_new(lock, "worst_ns", json_integer((json_int_t)t->worst_ns));
}

/* Different copies of a stack may turn out to be the same one. */
static json_t *wait_of(const adding *a, json_int_t lock, json_t *waiter, json_t *waker)
{
    char key[96];
    snprintf(key, sizeof key, "%lld %lld %lld", (long long)lock,
             json_is_null(waiter) ? -1 : (long long)json_integer_value(waiter),
             json_is_null(waker) ? -1 : (long long)json_integer_value(waker));
    json_t *known = json_object_get(a->waits, key);
    json_t *wait = json_pack("{sI sI sI sI so so}", "lock", lock, "count", (json_int_t)0, "total_ns",
                             (json_int_t)0, "worst_ns", (json_int_t)0, "waiter", waiter, "holder", waker);
    if (known != NULL) {
        json_decref(wait);
        return known;
    }
    if (json_object_set(a->waits, key, wait) != 0)
        fail("out of memory");
    append(a, "waits", wait);
    return wait;
}

static void add_waits(adding *a)
{
    for (size_t i = 0; i < a->collected->pairs_count; i++) {
        const struct attach_pair *p = &a->collected->pairs[i];
        const struct attach_times *t = &a->collected->times[i];
        json_int_t lock = place_of_lock(a, p->address, p->waiter);
        add_to_lock(json_array_get(json_object_get(a->document, "locks"), (size_t)lock), t);
        json_t *wait = wait_of(a, lock, stack_of(a, p->waiter), stack_of(a, p->waker));
        raise_by(wait, "count", t->count);
        raise_by(wait, "total_ns", t->total_ns);
        raise_by(wait, "unfinished", t->unfinished);
        if ((json_int_t)t->worst_ns > number_in(wait, "worst_ns"))
            json_object_set_new(wait, "worst_ns", json_integer((json_int_t)t->worst_ns));
    }
}

static void add_longest(adding *a)
{
    for (size_t i = 0; i < a->collected->longest_count; i++) {
        const struct attach_long *e = &a->collected->longest[i];
        char name[sizeof e->name + 1] = "";
        memcpy(name, e->name, sizeof e->name);
        append(a, "worst",
               json_pack("{sI sI sI sI sI sI sI so so so sb}", "process", (json_int_t)a->collected->pid,
                         "lock", place_of_lock(a, e->address, e->waiter), "start_ns",
                         (json_int_t)(e->start_ns - a->collected->start_ns), "waited_ns",
                         (json_int_t)(e->end_ns - e->start_ns), "held_since_ns", (json_int_t)-1, "waiter_tid",
                         (json_int_t)e->waiter_tid, "holder_tid", (json_int_t)e->waker_tid, "waiter",
                         stack_of(a, e->waiter), "holder", stack_of(a, e->waker), "thread", utf8_json(name),
                         "unfinished", e->unfinished != 0));
    }
}

static void add_process(const adding *a)
{
    const collected *c = a->collected;
    uint64_t count = 0, total = 0, unfinished = 0;
    for (size_t i = 0; i < c->pairs_count; i++) {
        count += c->times[i].count;
        total += c->times[i].total_ns;
        unfinished += c->times[i].unfinished;
    }
    append(a, "processes",
           json_pack("{sI so sn sI sI sI sI sI sI sI}", "pid", (json_int_t)c->pid, "program",
                     utf8_json(c->program), "acquisitions", "locks", (json_int_t)json_object_size(a->locks),
                     "contended", (json_int_t)count, "waited_ns", (json_int_t)total, "void_waits",
                     (json_int_t)c->voids, "still_waiting", (json_int_t)unfinished, "lost_waits",
                     (json_int_t)c->lost_waits, "lost_stacks", (json_int_t)c->lost_stacks));
}

void document_add_collected(json_t *document, const collected *c, uint32_t depth)
{
    adding a = {.document = document,
                .collected = c,
                .symbols = symbols_new(c->maps, strlen(c->maps), c->pid),
                .stacks = allocate(c->samples_count + 1, sizeof(json_int_t)),
                .locks = json_object(),
                .waits = json_object()};
    uint64_t frames[STATS_DEPTH];
    for (size_t i = 0; i < c->samples_count; i++) {
        size_t count = unwind(a.symbols, c->pid, c->samples[i], frames, depth);
        a.stacks[i] = document_stack(document, a.symbols, frames, count);
    }
    add_waits(&a);
    add_longest(&a);
    add_process(&a);
    symbols_free(a.symbols);
    json_decref(a.locks);
    json_decref(a.waits);
    free(a.stacks);
}
