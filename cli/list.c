/* list.c - `pawl list`: the register, for people, programs and the manual */
#include "cli.h"
#include "grid.h"
#include "json.h"
#include "names.h"
#include "output.h"
#include "parse.h"

#include "src/register.h"

#include <stdlib.h>

typedef enum format { TEXT, JSON, MARKDOWN } format;

typedef struct request {
    format format;
    const char *output;
    const lock_info **locks;
    size_t count;
} request;

static size_t words(size_t bytes)
{
    return (bytes + 7) / 8;
}

/* One function for each column. */

typedef void cell(grid *g, const lock_info *l);

static void name(grid *g, const lock_info *l)
{
    grid_add(g, "%s", l->name);
}

static void code(grid *g, const lock_info *l)
{
    grid_add(g, "`%s`", l->name);
}

static void title(grid *g, const lock_info *l)
{
    grid_add(g, "%s", l->title);
}

static void source(grid *g, const lock_info *l)
{
    grid_add(g, "%s", l->source);
}

static void order(grid *g, const lock_info *l)
{
    grid_add(g, "%s", order_name(l->order));
}

static void bypass(grid *g, const lock_info *l)
{
    if (l->each == PAWL_UNBOUNDED)
        grid_add(g, l->bounded_in_time ? "time" : "any");
    else
        grid_add(g, "%d%s", l->each, l->total == l->each ? "" : " each");
}

static void lock_words(grid *g, const lock_info *l)
{
    if (l->idle_bytes > 0)
        grid_add(g, "%zu+%zu", words(l->size), words(l->idle_bytes));
    else
        grid_add(g, "%zu", words(l->size));
}

static void thread_words(grid *g, const lock_info *l)
{
    if (l->held_bytes > 0)
        grid_add(g, "%zu/held", words(l->thread_bytes + l->held_bytes));
    else
        grid_add(g, "%zu", words(l->thread_bytes));
}

static void waiting(grid *g, const lock_info *l)
{
    grid_add(g, "%s", waiting_name(l->waiting));
}

static void flags(grid *g, const lock_info *l)
{
    grid_add(g, "%c%c%c%c%c%c", l->constant_unlock ? 'c' : '-', l->trylock != NULL ? 't' : '-',
             l->clocklock != NULL ? 'd' : '-', l->prompt ? 'f' : '-', l->oblivious ? 'o' : '-',
             l->context ? 'x' : '-');
}

#define YES_OR_NO(column, is)                                                                                \
    static void column(grid *g, const lock_info *l)                                                          \
    {                                                                                                        \
        grid_add(g, "%s", (is) ? "yes" : "no");                                                              \
    }
YES_OR_NO(constant, l->constant_unlock)
YES_OR_NO(trylock, l->trylock != NULL)
YES_OR_NO(deadlines, l->clocklock != NULL)
YES_OR_NO(prompt, l->prompt)
YES_OR_NO(oblivious, l->oblivious)
YES_OR_NO(context, l->context)

typedef struct layout {
    const char *align;
    struct {
        const char *head;
        cell *cell;
    } columns[14];
} layout;

/* The first that fits into the line is used: 165, 120 and 80 characters. */
static const layout text_layouts[] = {
    {"lllllrrll",
     {{"lock", name},
      {"what", title},
      {"order", order},
      {"bypass", bypass},
      {"flags", flags},
      {"words", lock_words},
      {"thread", thread_words},
      {"waiting", waiting},
      {"source", source}}},
    {"lllllrrl",
     {{"lock", name},
      {"what", title},
      {"order", order},
      {"bypass", bypass},
      {"flags", flags},
      {"words", lock_words},
      {"thread", thread_words},
      {"waiting", waiting}}},
    {"llllrrl",
     {{"lock", name},
      {"order", order},
      {"bypass", bypass},
      {"flags", flags},
      {"words", lock_words},
      {"thread", thread_words},
      {"waiting", waiting}}},
};

enum { TEXT_LAYOUTS = sizeof text_layouts / sizeof text_layouts[0] };

static const layout markdown_layout = {"llllrrrlllllll",
                                       {{"lock", code},
                                        {"what", title},
                                        {"source", source},
                                        {"order", order},
                                        {"bypass", bypass},
                                        {"words", lock_words},
                                        {"per thread", thread_words},
                                        {"unlock O(1)", constant},
                                        {"trylock", trylock},
                                        {"deadlines", deadlines},
                                        {"free at once", prompt},
                                        {"unlock by another", oblivious},
                                        {"context", context},
                                        {"waiting", waiting}}};

static const char legend[] =
    "\n"
    "bypass   how often a waiting thread may be overtaken, in all or by each of the\n"
    "         others; any: no bound; time: for a bounded time\n"
    "flags    c  unlock takes constant time     f  the next owner may free the lock\n"
    "         t  there is a trylock             o  another thread may unlock\n"
    "         d  lock may have a deadline       x  unlock needs the lock's context\n"
    "words    8 bytes each, per lock (+ once it has been used)\n"
    "thread   words per thread, or per lock that it holds\n"
    "waiting  global: all watch one word; local: each its own; semi-private: each its\n"
    "         own unless hashes collide\n";

static grid fill(const layout *form, const request *r)
{
    grid g = grid_new(form->align);
    for (size_t c = 0; c < g.columns; c++)
        grid_add(&g, "%s", form->columns[c].head);
    for (size_t i = 0; i < r->count; i++)
        for (size_t c = 0; c < g.columns; c++)
            form->columns[c].cell(&g, r->locks[i]);
    return g;
}

static void print_text(output *o, const request *r)
{
    unsigned width = output_width(o);
    for (int i = 0; i < TEXT_LAYOUTS; i++) {
        grid g = fill(&text_layouts[i], r);
        bool fits = grid_width(&g) <= width || i == TEXT_LAYOUTS - 1;
        if (fits)
            grid_print(&g, o->file);
        grid_free(&g);
        if (fits)
            break;
    }
    fputs(legend, o->file);
}

static void print_markdown(output *o, const request *r)
{
    grid g = fill(&markdown_layout, r);
    grid_markdown(&g, o->file);
    grid_free(&g);
}

static json_t *bound(int n)
{
    return n == PAWL_UNBOUNDED ? json_null() : json_integer(n);
}

static void print_json(output *o, const request *r)
{
    json_t *locks = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const lock_info *l = r->locks[i];
        json_t *lock =
            json_pack("{ss ss ss ss so so sb sb sb sb sb sb sb sI sI sI sI sI sI ss}", "name", l->name,
                      "title", l->title, "source", l->source, "order", order_name(l->order), "bypass_each",
                      bound(l->each), "bypass_total", bound(l->total), "bypass_in_time", l->bounded_in_time,
                      "constant_time_unlock", l->constant_unlock, "context", l->context, "trylock",
                      l->trylock != NULL, "deadlines", l->clocklock != NULL, "prompt_destruction", l->prompt,
                      "thread_oblivious", l->oblivious, "bytes", (json_int_t)l->size, "words",
                      (json_int_t)words(l->size), "thread_bytes", (json_int_t)l->thread_bytes, "thread_words",
                      (json_int_t)words(l->thread_bytes), "held_bytes", (json_int_t)l->held_bytes,
                      "idle_bytes", (json_int_t)l->idle_bytes, "waiting", waiting_name(l->waiting));
        if (json_array_append_new(locks, lock) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{so}", "locks", locks));
}

static const char *lock_name(const void *table, size_t i)
{
    return ((const lock_info *)table)[i].name;
}

static void take_format(request *r, format wanted)
{
    if (r->format != TEXT && r->format != wanted)
        fail("--json and --markdown: cannot be used together");
    r->format = wanted;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'j':
        take_format(r, JSON);
        return 0;
    case 'm':
        take_format(r, MARKDOWN);
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if ((r->locks[r->count++] = lock_find(argument)) == NULL)
            fail("'%s': no such lock%s", argument, did_you_mean(argument, lock_name, lock_table, LOCK_COUNT));
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Write JSON", 0},
    {"markdown", 'm', NULL, 0, "Write a Markdown table", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .args_doc = "[LOCK...]",
                                 .doc = "Show all locks, or those named, and their properties.",
                                 .children = common_options};

int list_main(int argc, char **argv)
{
    static void (*const print[])(output *, const request *) = {
        [TEXT] = print_text, [JSON] = print_json, [MARKDOWN] = print_markdown};
    request r = {.locks = allocate((size_t)argc + LOCK_COUNT, sizeof *r.locks)};
    parse_options(&argp, argc, argv, 0, &r);
    bool all = r.count == 0;
    for (int i = 0; i < LOCK_COUNT && all; i++)
        r.locks[r.count++] = &lock_table[i];
    output o;
    output_open(&o, r.output);
    print[r.format](&o, &r);
    output_close(&o);
    free(r.locks);
    return EXIT_SUCCESS;
}
