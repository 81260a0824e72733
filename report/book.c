/* book.c - what a report shows */
#include "book.h"
#include "rounds.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Many lines in one chart hide each other. Up to `few`, all are shown; beyond that, these and the best of each
 * ranking. */
enum { few = 12, most_shown = 14 };

static const char *const well_known[] = {"glibc",         "glibc_normal", "pthread", "pawl_mutex",
                                         "tts",           "ticket",       "mcs",     "clh",
                                         "reciprocating", "hapax_vw",     "hemlock"};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

char *series_name(const results *r, const point *p)
{
    char *name;
    bool variant = strcmp(r->workload, "ring") == 0 && p->variant != NULL;
    if (asprintf(&name, "%s%s%s", p->lock, variant ? " " : "", variant ? p->variant : "") < 0)
        fail("out of memory");
    return name;
}

static lock_entry *find_lock(const book *b, const char *name)
{
    for (size_t i = 0; i < b->lock_count; i++)
        if (strcmp(b->locks[i].name, name) == 0)
            return &b->locks[i];
    return NULL;
}

size_t book_lock(const book *b, const results *r, const point *p)
{
    char *name = series_name(r, p);
    size_t index = (size_t)(find_lock(b, name) - b->locks);
    free(name);
    return index;
}

static void add_lock(book *b, char *name, const char *family)
{
    b->locks[b->lock_count] = (lock_entry){.name = name, .family = family, .order = b->lock_count};
    b->lock_count++;
}

static void collect_locks(book *b)
{
    size_t room = 0;
    for (size_t f = 0; f < b->count; f++)
        room += b->files[f].count;
    b->locks = allocate(room, sizeof *b->locks);
    for (size_t f = 0; f < b->count; f++)
        for (size_t i = 0; i < b->files[f].count; i++) {
            const point *p = &b->files[f].points[i];
            char *name = series_name(&b->files[f], p);
            if (find_lock(b, name) == NULL)
                add_lock(b, name, p->family);
            else
                free(name);
        }
}

static size_t count_shown(const book *b)
{
    size_t shown = 0;
    for (size_t i = 0; i < b->lock_count; i++)
        shown += b->locks[i].shown;
    return shown;
}

static void show_best(book *b, const json_t *rankings)
{
    size_t i;
    json_t *ranking;
    json_array_foreach (rankings, i, ranking) {
        json_t *best = json_array_get(json_object_get(ranking, "rows"), 0);
        size_t lock = (size_t)json_integer_value(json_object_get(best, "lock"));
        b->locks[lock].shown |= count_shown(b) < most_shown;
    }
}

/* Shown locks come first, so that they get the colours that are easiest to tell apart. */
static int shown_first(const void *a, const void *b)
{
    const lock_entry *x = a, *y = b;
    return x->shown != y->shown ? y->shown - x->shown : (x->order > y->order) - (x->order < y->order);
}

static void choose_shown(book *b)
{
    for (size_t i = 0; i < COUNT_OF(well_known); i++) {
        lock_entry *lock = find_lock(b, well_known[i]);
        if (lock != NULL)
            lock->shown = true;
    }
    for (size_t f = 0; f < b->count; f++) {
        json_t *rankings = rankings_make(b, &b->files[f]);
        show_best(b, rankings);
        json_decref(rankings);
    }
    for (size_t i = 0; i < b->lock_count && b->lock_count <= few; i++)
        b->locks[i].shown = true;
}

static bool is_reference(const book *b, const char *name)
{
    for (size_t f = 0; f < b->count; f++)
        if (same_text(reference_lock(&b->files[f]), name))
            return true;
    return false;
}

static json_t *locks_json(const book *b)
{
    json_t *locks = json_array();
    for (size_t i = 0; i < b->lock_count; i++)
        append(locks, json_pack("{ss ss sb sb}", "name", b->locks[i].name, "family", b->locks[i].family,
                                "shown", b->locks[i].shown, "reference", is_reference(b, b->locks[i].name)));
    return locks;
}

/* Nanoseconds, whichever way the file says it. */
static double as_ns(const results *r, double value)
{
    return r->higher_is_better ? 1e9 / value : value;
}

static void find_pingpong(book *b)
{
    for (size_t f = 0; f < b->count && b->pingpong == NULL; f++) {
        const results *r = &b->files[f];
        if (strcmp(r->workload, "pingpong") != 0)
            continue;
        b->pingpong = r;
        b->pingpong_ns = INFINITY;
        for (size_t i = 0; i < r->count; i++) {
            double *values = allocate(r->points[i].run_count, sizeof *values);
            size_t count = run_values(&r->points[i], offsetof(run, value), values);
            b->pingpong_ns = fmin(b->pingpong_ns, as_ns(r, summarize(values, count).median));
            free(values);
        }
    }
}

/* A doubt that many points share is listed once, with all of them. */
static void add_doubt(json_t *doubts, const char *text, json_t *where)
{
    size_t i;
    json_t *doubt;
    json_array_foreach (doubts, i, doubt)
        if (strcmp(json_string_value(json_object_get(doubt, "text")), text) == 0) {
            append(json_object_get(doubt, "where"), where);
            return;
        }
    append(doubts, json_pack("{ss s[o]}", "text", text, "where", where));
}

static json_t *doubts_json(const results *r)
{
    json_t *doubts = json_array(), *doubt;
    size_t i;
    json_array_foreach (r->doubts, i, doubt)
        append(doubts, json_pack("{sO s[]}", "text", doubt, "where"));
    for (size_t k = 0; k < r->count; k++) {
        const point *p = &r->points[k];
        json_array_foreach (p->doubts, i, doubt)
            add_doubt(doubts, json_string_value(doubt), json_pack("[s i]", p->lock, (int)p->threads));
    }
    return doubts;
}

static json_t *section_json(const book *b, const results *r)
{
    const char *reference = reference_lock(r);
    return json_pack("{ss ss ss? ss ss ss sb ss? so sO sO so so so}", "file", r->path, "workload",
                     r->workload, "preset", r->preset, "pawl", r->version, "date", r->date, "unit", r->unit,
                     "higher_is_better", r->higher_is_better, "reference", reference, "harness_ns",
                     number_or_null(r->harness_ns), "parameters", r->parameters, "machine", r->machine,
                     "doubts", doubts_json(r), "charts", charts_make(b, r), "rankings", rankings_make(b, r));
}

static bool doubted(const results *r)
{
    size_t count = json_array_size(r->doubts);
    for (size_t i = 0; i < r->count; i++)
        count += json_array_size(r->points[i].doubts);
    return count > 0;
}

static json_t *common_doubts(const book *b)
{
    json_t *doubts = json_array();
    if (b->count > 1 && b->pingpong != NULL && doubted(b->pingpong))
        append(doubts, json_string("The pingpong that hand-overs are compared with is itself in doubt."));
    for (size_t f = 1; f < b->count; f++)
        if (!same_machine(&b->files[0], &b->files[f])) {
            append(doubts, json_string("The files are from different machines."));
            break;
        }
    return doubts;
}

json_t *book_make(const results *files, size_t count)
{
    book b = {.files = files, .count = count};
    collect_locks(&b);
    choose_shown(&b);
    qsort(b.locks, b.lock_count, sizeof *b.locks, shown_first);
    find_pingpong(&b);
    json_t *sections = json_array();
    for (size_t f = 0; f < count; f++)
        append(sections, section_json(&b, &files[f]));
    json_t *all = json_pack("{ss so so so so}", "pawl", PAWL_VERSION, "locks", locks_json(&b), "doubts",
                            common_doubts(&b), "pingpong_ns",
                            number_or_null(b.pingpong != NULL ? b.pingpong_ns : NAN), "sections", sections);
    if (all == NULL)
        fail("out of memory");
    for (size_t i = 0; i < b.lock_count; i++)
        free(b.locks[i].name);
    free(b.locks);
    return all;
}
