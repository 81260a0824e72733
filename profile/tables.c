/* tables.c - from a process's tables to the profile */
#include "tables.h"
#include "utf8.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

void table_append(json_t *document, const char *array, json_t *item)
{
    if (item == NULL || json_array_append_new(json_object_get(document, array), item) != 0)
        fail("out of memory");
}

stats_row table_row(const reader *r, uint32_t place)
{
    stats_row row;
    memcpy(&row, &r->rows[place], sizeof row);
    atomic_signal_fence(memory_order_seq_cst); /* it is not read again */
    return row;
}

symbols *table_symbols(reader *r, unsigned generation)
{
    unsigned g = generation < STATS_GENERATIONS ? generation : 0;
    if (r->symbols[g] == NULL) {
        const stats_generation *part = &r->table->generations[g];
        bool sane = part->begin <= part->end && part->end <= STATS_MAPS;
        uint32_t begin = sane ? part->begin : 0, end = sane ? part->end : 0;
        r->symbols[g] = symbols_new(r->table->maps + begin, end - begin, r->table->pid);
    }
    return r->symbols[g];
}

json_t *table_stack_at(reader *r, uint32_t place)
{
    const stats_stack *s = table_stack(r->table, place);
    if (s == NULL)
        return json_null();
    if (r->stacks[place] < 0)
        r->stacks[place] = document_stack(r->document, table_symbols(r, s->generation),
                                          &r->table->frames[s->first], s->depth);
    return json_integer(r->stacks[place]);
}

/* ---- who met whom */

static bool is_known(const reader *r, uint32_t row)
{
    return row != 0 && row < STATS_LOCKS && r->locks[row] >= 0;
}

static void add_meet(reader *r, const stats_meet *m)
{
    uint32_t row = m->row;
    if (!is_known(r, row) || m->count == 0)
        return;
    json_t *holder = table_stack_at(r, m->holder);
    json_t *item = json_pack("{sI sI sI sI}", "lock", r->locks[row], "count", integer(m->count), "total_ns",
                             integer(m->total_ns), "worst_ns", integer(m->worst_ns));
    bool hold = is_hold(m);
    json_object_set_new(item, hold ? "stack" : "holder", holder);
    if (!hold)
        json_object_set_new(item, "waiter", table_stack_at(r, m->waiter & ~STATS_IN_VAIN));
    if (m->waiter & STATS_IN_VAIN)
        json_object_set_new(item, "gave_up", json_integer(integer(m->count)));
    table_append(r->document, hold ? "holds" : "waits", item);
}

static void add_one_wait(reader *r, const stats_wait *w, uint64_t end_ns, bool unfinished)
{
    char name[sizeof w->waiter_name + 1] = "";
    memcpy(name, w->waiter_name, sizeof w->waiter_name);
    json_int_t origin = integer(r->origin_ns);
    json_t *item = json_pack("{sI sI sI sI sI sI sI so so so sb}", "process", (json_int_t)r->table->pid,
                             "lock", r->locks[w->row], "start_ns", integer(w->start_ns) - origin, "waited_ns",
                             integer(end_ns - w->start_ns), "held_since_ns",
                             w->held_since > 0 ? integer(w->held_since) - origin : -1, "waiter_tid",
                             (json_int_t)w->waiter_tid, "holder_tid", (json_int_t)w->holder_tid, "waiter",
                             table_stack_at(r, w->waiter), "holder", table_stack_at(r, w->holder), "thread",
                             utf8_json(name), "unfinished", unfinished);
    table_append(r->document, "worst", item);
}

static void add_worst(reader *r, const stats_wait *w)
{
    if (w->end_ns != 0 && is_known(r, w->row))
        add_one_wait(r, w, w->end_ns, false);
}

/* ---- waits that had not ended when the process did */

static void raise_lock(reader *r, uint32_t row, json_int_t ns)
{
    json_t *lock = json_array_get(json_object_get(r->document, "locks"), (size_t)r->locks[row]);
    json_object_set_new(lock, "unfinished", json_integer(number_in(lock, "unfinished") + 1));
    json_object_set_new(lock, "waited_ns", json_integer(number_in(lock, "waited_ns") + ns));
    if (ns > number_in(lock, "worst_ns"))
        json_object_set_new(lock, "worst_ns", json_integer(ns));
    if (!waits_for_event(lock)) {
        r->unfinished++;
        r->unfinished_ns += ns;
    }
}

/* Blamed on the thread that has the lock now: there may have been others since the wait began. */
static void add_unfinished(reader *r, const stats_wait *waiting)
{
    uint32_t place = waiting->row;
    if (waiting->start_ns == 0 || place == 0 || place >= table_rows(r->table))
        return;
    const stats_row row = table_row(r, place);
    stats_wait w = *waiting;
    if (row.kind == STATS_COND) { /* whoever signalled last did so before */
        w.holder = w.holder_tid = 0;
        w.held_since = 0;
    } else if (row.owner != 0 && row.stack != 0) {
        w.holder_tid = row.owner;
        w.holder = row.stack;
        w.held_since = row.since;
    }
    if (r->locks[place] < 0)
        table_add_lock(r, place);
    uint64_t end_ns = r->end_ns > w.start_ns ? r->end_ns : w.start_ns;
    json_int_t ns = integer(end_ns - w.start_ns);
    raise_lock(r, place, ns);
    table_append(r->document, "waits",
                 json_pack("{sI sI sI sI sI so so}", "lock", r->locks[place], "count", (json_int_t)1,
                           "total_ns", ns, "worst_ns", ns, "unfinished", (json_int_t)1, "holder",
                           table_stack_at(r, w.holder), "waiter", table_stack_at(r, w.waiter)));
    add_one_wait(r, &w, end_ns, true);
}

/* ---- the process */

static void add_process(reader *r)
{
    const stats_table *t = r->table;
    uint64_t acquisitions = t->beyond, locks = 0;
    tally all = {.count = t->beyond_wait.count,
                 .total_ns = t->beyond_wait.total_ns,
                 .refused = t->refused[0]}; /* of locks without a row */
    for (uint32_t i = 1, rows = table_rows(t); i < rows; i++) {
        const stats_row row = table_row(r, i);
        const tally waits = table_tally(r, i, &row);
        bool listed = r->locks[i] >= 0; /* somebody wanted it, and may wait still */
        if ((row.acquisitions == 0 && !listed) || row.kind == STATS_COND)
            continue;
        locks++;
        acquisitions += row.acquisitions;
        all.refused += waits.refused;
        all.gave_up += waits.gave_up;
        if (table_detail(t, &row) == NULL)
            continue; /* its waits are in beyond_wait */
        all.count += waits.count;
        all.total_ns += waits.total_ns;
    }
    char program[STATS_NAME + 1] = "", lock[sizeof t->lock + 1] = "";
    memcpy(program, t->program, STATS_NAME);
    memcpy(lock, t->lock, sizeof t->lock);
    table_append(r->document, "processes",
                 json_pack("{sI sI so so sb sI sI sI sI sI sI sI sI sI sI sI sI}", "pid", (json_int_t)t->pid,
                           "parent", (json_int_t)t->parent, "program", utf8_json(program), "lock",
                           utf8_json(lock), "exited", t->ended_ns != 0, "locks", integer(locks),
                           "acquisitions", integer(acquisitions), "contended", integer(all.count), "gave_up",
                           integer(all.gave_up), "refused", integer(all.refused), "waited_ns",
                           integer(all.total_ns) + r->unfinished_ns, "still_waiting", r->unfinished,
                           "unlisted_waits", integer(t->unlisted), "beyond_the_table", integer(t->beyond),
                           "lost_pairs", integer(t->lost_meets), "lost_stacks", integer(t->lost_stacks),
                           "cut_stacks", integer(t->cut_stacks)));
}

static json_int_t *places(size_t count)
{
    json_int_t *p = allocate(count, sizeof *p);
    memset(p, 0xff, count * sizeof *p);
    return p;
}

void document_add_table(json_t *document, const stats_table *t, const stats_row *rows, uint64_t origin_ns,
                        uint64_t end_ns)
{
    reader r = {.document = document,
                .table = t,
                .rows = rows,
                .origin_ns = origin_ns,
                .end_ns = end_ns,
                .stacks = places(STATS_STACKS),
                .locks = places(STATS_LOCKS),
                .tallies = allocate(STATS_LOCKS, sizeof(tally))};
    if (t->locks_used > 0) {
        table_tally_waits(&r);
        table_add_locks(&r);
    }
    for (int i = 0; i < STATS_MEETS && t->stacks_used > 0; i++)
        add_meet(&r, &t->meets[i]);
    for (int i = 0; i < 2 * STATS_WORST && t->stacks_used > 0; i++)
        add_worst(&r, &t->worst[i / STATS_WORST].waits[i % STATS_WORST]);
    for (int i = 0; i < STATS_WAITING && t->locks_used > 0; i++)
        add_unfinished(&r, &t->waiting[i]);
    add_process(&r);
    for (int i = 0; i < STATS_GENERATIONS; i++)
        symbols_free(r.symbols[i]);
    free(r.stacks);
    free(r.locks);
    free(r.tallies);
}
