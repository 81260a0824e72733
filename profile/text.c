/* text.c - a profile for people */
#include "text.h"

#include "cli/grid.h"

#include <string.h>

enum { LOCKS = 10, CONDS = 5 };

double percent(json_int_t part, json_int_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

bool shows_processes(const json_t *d)
{
    json_t *process;
    size_t i;
    json_array_foreach (json_object_get(d, "processes"), i, process)
        if (number_in(process, "pid") != number_in(json_array_get(json_object_get(d, "processes"), 0), "pid"))
            return true;
    return false;
}

/* Of a lock's or a process's calls, with those that gave up or still wait. */
static double contended_share(const json_t *object)
{
    json_int_t waiting = number_in(object, "unfinished") + number_in(object, "still_waiting");
    return percent(number_in(object, "contended") + waiting,
                   number_in(object, "acquisitions") + number_in(object, "gave_up") + waiting);
}

/* ---- the tables */

/* Those that are shown: the first that were waited for, of each sort. */
typedef struct choice {
    size_t count, places[LOCKS > CONDS ? LOCKS : CONDS];
} choice;

static choice choose(const json_t *d, bool conds)
{
    choice c = {0};
    json_t *lock;
    size_t i, most = conds ? CONDS : LOCKS;
    json_array_foreach (json_object_get(d, "locks"), i, lock) {
        if (c.count < most && waits_for_event(lock) == conds &&
            number_in(lock, "contended") + number_in(lock, "unfinished") + number_in(lock, "refused") > 0)
            c.places[c.count++] = i;
    }
    return c;
}

static void add_titles(grid *g, bool attached, bool processes)
{
    static const char *const seen[] = {"acquired", "contended",  "waited",
                                       "worst",    "held, mean", "held, worst"},
                             *const slept[] = {"waits", "waited", "worst"};
    grid_add(g, "%s", "");
    if (processes)
        grid_add(g, "process");
    for (size_t i = 0; i < (attached ? sizeof slept : sizeof seen) / sizeof seen[0]; i++)
        grid_add(g, "%s", attached ? slept[i] : seen[i]);
    grid_add(g, "%s", "");
}

static void add_row(grid *g, const json_t *lock, size_t place, bool attached, bool processes)
{
    bool timed = number_in(lock, "holds_timed") > 0;
    grid_add(g, "%zu", place + 1);
    if (processes)
        grid_add(g, "%lld", (long long)number_in(lock, "process"));
    grid_add(g, "%lld", (long long)number_in(lock, attached ? "contended" : "acquisitions"));
    if (!attached)
        grid_add(g, "%.1f %%", contended_share(lock));
    grid_add(g, "%s", in_words(number_in(lock, "waited_ns")).text);
    grid_add(g, "%s", in_words(number_in(lock, "worst_ns")).text);
    if (!attached) {
        grid_add(g, "%s", timed ? in_words(number_in(lock, "hold_mean_ns")).text : "");
        grid_add(g, "%s", timed ? in_words(number_in(lock, "hold_worst_ns")).text : "");
    }
    grid_add(g, "%s", text_in(lock, "name"));
}

static void print_locks(output *o, const json_t *d, const choice *c, bool conds)
{
    if (c->count == 0)
        return;
    bool attached = is_attached(d), processes = shows_processes(d);
    grid g = grid_new(attached ? "rrrrl" : processes ? "rrrrrrrrl" : "rrrrrrrl");
    add_titles(&g, attached, processes);
    for (size_t i = 0; i < c->count; i++)
        add_row(&g, json_array_get(json_object_get(d, "locks"), c->places[i]), c->places[i], attached,
                processes);
    fprintf(o->file, "\n%s\n",
            !conds     ? "Locks"
            : attached ? "Condition variables, semaphores, barriers, ends of threads"
                       : "Condition variables");
    grid_print(&g, o->file);
    grid_free(&g);
}

static void print_lost(output *o, const json_t *process, const char *key, const char *what)
{
    if (number_in(process, key) > 0)
        fprintf(o->file, "  %lld %s\n", (long long)number_in(process, key), what);
}

static const char *program_of(const json_t *p)
{
    const char *slash = strrchr(text_in(p, "program"), '/');
    return slash != NULL ? slash + 1 : text_in(p, "program");
}

static void print_attached(output *o, const json_t *d, const json_t *p)
{
    json_int_t locks = number_in(p, "locks"), waits = number_in(p, "contended");
    fprintf(o->file, "%s (%lld), watched for %s: %lld wait%s for %lld futex%s, %s waited\n", program_of(p),
            (long long)number_in(p, "pid"), in_words(number_in(d, "elapsed_ns")).text, (long long)waits,
            waits == 1 ? "" : "s", (long long)locks, locks == 1 ? "" : "es",
            in_words(number_in(p, "waited_ns")).text);
    print_lost(o, p, "still_waiting", "of them have not ended");
    print_lost(o, p, "void_waits", "more returned at once, because the word had changed");
    print_lost(o, p, "lost_waits", "waits were of more threads or pairs of stacks than the tables hold");
    print_lost(o, p, "lost_stacks", "stacks did not fit");
}

static void print_process(output *o, const json_t *p)
{
    json_int_t locks = number_in(p, "locks"), all = number_in(p, "acquisitions");
    fprintf(o->file, "%s (%lld) under %s: %lld acquisition%s of %lld lock%s, %.2f %% contended, %s waited\n",
            program_of(p), (long long)number_in(p, "pid"), text_in(p, "lock"), (long long)all,
            all == 1 ? "" : "s", (long long)locks, locks == 1 ? "" : "s", contended_share(p),
            in_words(number_in(p, "waited_ns")).text);
    json_int_t waiting = number_in(p, "still_waiting");
    if (waiting > 0)
        fprintf(o->file, "  %lld wait%s for a lock had not ended when it did\n", (long long)waiting,
                waiting == 1 ? "" : "s");
    print_lost(o, p, "gave_up", "of the waits ended at their deadline, without the lock");
    print_lost(o, p, "refused", "calls of trylock found their lock taken");
    print_lost(o, p, "unlisted_waits",
               "more had not ended, and are not shown: more threads waited than the table holds");
    print_lost(o, p, "beyond_the_table",
               "acquisitions were of more locks than the table holds: only their waits are known");
    print_lost(o, p, "lost_pairs", "waits or holds were of more pairs of stacks than the table holds");
    print_lost(o, p, "lost_stacks", "stacks did not fit");
    print_lost(o, p, "cut_stacks", "stacks were cut to the call, to save time");
}

void profile_text(output *o, const json_t *d)
{
    json_t *item;
    size_t i;
    fprintf(o->file, "pawl profile: %s\n", text_in(d, "command"));
    if (*text_in(d, "end") != '\0')
        fprintf(o->file, "%s\n", text_in(d, "end"));
    json_array_foreach (json_object_get(d, "notes"), i, item)
        fprintf(o->file, "note: %s\n", json_string_value(item));
    json_array_foreach (json_object_get(d, "processes"), i, item)
        if (is_attached(d))
            print_attached(o, d, item);
        else if (number_in(item, "locks") > 0 || i == 0)
            print_process(o, item);
    for (int conds = 0; conds < 2; conds++) {
        const choice c = choose(d, conds);
        print_locks(o, d, &c, conds);
        for (i = 0; i < c.count; i++)
            profile_text_lock(o, d, c.places[i]);
    }
}
