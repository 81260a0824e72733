/* text_lock.c - of one lock, for people: who blocked whom, and who held it for how long */
#include "text.h"

#include "cli/grid.h"

#include <stdlib.h>
#include <string.h>

enum { HOLDERS = 3, WAITERS = 3, FRAMES = 12 };

/* Waits or holds of one site. */
typedef struct group {
    char *site;
    const json_t *stack; /* of those with this site, the one with the most time; NULL: not known */
    json_int_t stack_ns, count, total_ns, worst_ns, unfinished, gave_up;
} group;

typedef struct groups {
    group *items;
    size_t count;
} groups;

static int longer(const void *a, const void *b)
{
    json_int_t left = ((const group *)a)->total_ns, right = ((const group *)b)->total_ns;
    return (left < right) - (left > right);
}

static group *group_of(groups *all, const char *site)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].site, site) == 0)
            return &all->items[i];
    group *more = realloc(all->items, (all->count + 1) * sizeof *more);
    char *name = strdup(site);
    if (more == NULL || name == NULL)
        fail("out of memory");
    all->items = more;
    all->items[all->count] = (group){.site = name, .stack_ns = -1};
    return &all->items[all->count++];
}

static void add_to_group(group *g, const json_t *item, const json_t *stack)
{
    json_int_t total = number_in(item, "total_ns");
    g->count += number_in(item, "count");
    g->total_ns += total;
    g->unfinished += number_in(item, "unfinished");
    g->gave_up += number_in(item, "gave_up");
    if (number_in(item, "worst_ns") > g->worst_ns)
        g->worst_ns = number_in(item, "worst_ns");
    if (total > g->stack_ns) {
        g->stack = stack;
        g->stack_ns = total;
    }
}

/* The waits or holds of a lock by the site of the stack that `key` names; of waits, those with one holder if it is given. */
static groups group_by_site(const json_t *d, const char *array, size_t lock, const char *key,
                            const group *holder)
{
    groups all = {0};
    json_t *item;
    size_t i;
    char room[PLACE_ROOM];
    json_array_foreach (json_object_get(d, array), i, item) {
        if ((size_t)number_in(item, "lock") != lock ||
            (holder != NULL &&
             strcmp(site_text(d, item_of(d, "stacks", item, "holder"), room), holder->site) != 0))
            continue;
        const json_t *stack = item_of(d, "stacks", item, key);
        add_to_group(group_of(&all, site_text(d, stack, room)), item, stack);
    }
    if (all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, longer);
    return all;
}

static void free_groups(groups *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].site);
    free(all->items);
}

static void print_stack(output *o, const json_t *d, const json_t *stack, const char *indent)
{
    char room[PLACE_ROOM];
    json_t *frames = json_object_get(stack, "frames"), *place;
    size_t i;
    json_array_foreach (frames, i, place) {
        if (i == FRAMES) {
            fprintf(o->file, "%s...\n", indent);
            return;
        }
        const json_t *frame = json_array_get(json_object_get(d, "frames"), (size_t)json_integer_value(place));
        fprintf(o->file, "%s%s%s\n", indent, place_text(frame, room),
                json_is_true(json_object_get(frame, "inlined")) ? " [inlined]" : "");
    }
}

static void print_more(output *o, const char *indent, size_t count, size_t shown)
{
    if (count > shown)
        fprintf(o->file, "%sand %zu more\n", indent, count - shown);
}

static void print_waits(output *o, const char *indent, const char *what, const char *place, const group *g,
                        json_int_t whole)
{
    fprintf(o->file, "%s%s %s: %s (%.0f %%), %lld wait%s, ", indent, what, place, in_words(g->total_ns).text,
            percent(g->total_ns, whole), (long long)g->count, g->count == 1 ? "" : "s");
    if (g->unfinished > 0)
        fprintf(o->file, "%lld not ended, ", (long long)g->unfinished);
    if (g->gave_up > 0)
        fprintf(o->file, "%lld gave up, ", (long long)g->gave_up);
    fprintf(o->file, "worst %s\n", in_words(g->worst_ns).text);
}

static void print_holder(output *o, const json_t *d, size_t lock, const group *holder, json_int_t whole,
                         bool woken)
{
    const char *place = holder->stack != NULL ? holder->site
                        : !woken              ? "an acquisition that was not seen"
                                 : "no call that was seen (a timeout, a signal, a thread's end, or not yet)";
    print_waits(o, "   ", woken ? "woken by" : "blocked by", place, holder, whole);
    print_stack(o, d, holder->stack, "        ");
    groups waiters = group_by_site(d, "waits", lock, "waiter", holder);
    for (size_t i = 0; i < waiters.count && i < WAITERS; i++)
        print_waits(o, "      ", "waiting:", waiters.items[i].site, &waiters.items[i], holder->total_ns);
    print_more(o, "      ", waiters.count, WAITERS);
    free_groups(&waiters);
}

static void print_holds(output *o, const json_t *d, size_t lock)
{
    groups holds = group_by_site(d, "holds", lock, "stack", NULL);
    for (size_t i = 0; i < holds.count && i < HOLDERS; i++) {
        const group *g = &holds.items[i];
        fprintf(o->file, "   held by %s: %s in %lld timed hold%s, mean %s, worst %s\n", g->site,
                in_words(g->total_ns).text, (long long)g->count, g->count == 1 ? "" : "s",
                in_words(g->total_ns / g->count).text, in_words(g->worst_ns).text);
    }
    print_more(o, "   ", holds.count, HOLDERS);
    free_groups(&holds);
}

void profile_text_lock(output *o, const json_t *d, size_t place)
{
    const json_t *lock = json_array_get(json_object_get(d, "locks"), place);
    const char *kind = text_in(lock, "kind"), *name = text_in(lock, "name");
    bool named = strncmp(name, kind, strlen(kind)) != 0;
    fprintf(o->file, "\n%zu. %s%s%s", place + 1, named ? kind : "", named ? " " : "", name);
    if (shows_processes(d))
        fprintf(o->file, ", of process %lld", (long long)number_in(lock, "process"));
    fputc('\n', o->file);
    groups holders = group_by_site(d, "waits", place, "holder", NULL);
    for (size_t i = 0; i < holders.count && i < HOLDERS; i++)
        print_holder(o, d, place, &holders.items[i], number_in(lock, "waited_ns"), names_waker(d, lock));
    print_more(o, "   ", holders.count, HOLDERS);
    free_groups(&holders);
    if (number_in(lock, "refused") > 0)
        fprintf(o->file, "   refused %lld call%s of trylock\n", (long long)number_in(lock, "refused"),
                number_in(lock, "refused") == 1 ? "" : "s");
    print_holds(o, d, place);
}
