/* table_locks.c - from a process's tables to the profile: the locks */
#include "tables.h"
#include "utf8.h"

#include "cli/cli.h"

enum { QUIET_LOCKS = 20 }; /* that are listed although nobody waited for them: those acquired most */

static const char *const kinds[] = {"mutex", "spin lock", "condition variable"};

/* By the maps of its first use, or newer ones if these are older than the library: it may have been unloaded since. */
static bool name_data(reader *r, const stats_row *row, char *name, size_t size)
{
    const stats_stack *first = table_stack(r->table, row->first);
    uint32_t used = r->table->generations_used, g = first != NULL ? first->generation : 0;
    do
        if (symbols_data(table_symbols(r, g), row->lock, name, size))
            return true;
    while (++g < used && g < STATS_GENERATIONS);
    return false;
}

/* One without a name is named after its first use, when all are known (document.c). */
static void name_lock(reader *r, const stats_row *row, json_t *lock)
{
    char name[256];
    json_t *first = table_stack_at(r, row->first);
    bool known = name_data(r, row, name, sizeof name);
    if (!known && !json_is_integer(first)) {
        snprintf(name, sizeof name, "%s at 0x%jx", text_in(lock, "kind"), (uintmax_t)row->lock);
        known = true;
    }
    json_object_set_new(lock, "first", first);
    if (known)
        json_object_set_new(lock, "name", utf8_json(name));
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void table_tally_waits(reader *r)
{
    for (int i = 0; i < STATS_MEETS; i++) {
        const stats_meet *m = &r->table->meets[i];
        uint32_t place = m->row;
        if (is_hold(m) || place == 0 || place >= table_rows(r->table))
            continue;
        tally *sum = &r->tallies[place];
        sum->count += m->count;
        sum->gave_up += m->waiter & STATS_IN_VAIN ? m->count : 0;
        sum->total_ns += m->total_ns;
        sum->worst_ns = longer(sum->worst_ns, m->worst_ns);
    }
}

tally table_tally(const reader *r, uint32_t place, const stats_row *row)
{
    const stats_detail *d = table_detail(r->table, row);
    tally t = r->tallies[place];
    if (d != NULL)
        t = (tally){.count = d->wait.count + d->vain,
                    .total_ns = d->wait.total_ns + d->vain_ns,
                    .worst_ns = longer(d->wait.worst_ns, d->vain_worst_ns),
                    .gave_up = d->vain};
    t.refused = r->table->refused[place];
    return t;
}

/* The detail knows it exactly, but not of holds before the first wait. */
static uint64_t worst_hold(const reader *r, const stats_row *row)
{
    const stats_detail *d = table_detail(r->table, row);
    uint64_t exact = d != NULL ? d->hold.worst_ns : 0;
    float any = row->hold_worst_ns;
    return any > (float)exact && any < (float)INT64_MAX ? (uint64_t)any : exact;
}

void table_add_lock(reader *r, uint32_t place)
{
    const stats_table *t = r->table;
    const stats_row row = table_row(r, place);
    const tally waits = table_tally(r, place, &row);
    char address[32];
    snprintf(address, sizeof address, "0x%jx", (uintmax_t)row.lock);
    json_t *lock =
        json_pack("{sI ss ss sI sI sI sI sI sI sI sI sI sI}", "process", (json_int_t)t->pid, "kind",
                  kinds[row.kind <= STATS_COND ? row.kind : 0], "address", address, "acquisitions",
                  integer(row.acquisitions), "contended", integer(waits.count), "gave_up",
                  integer(waits.gave_up), "refused", integer(waits.refused), "waited_ns",
                  integer(waits.total_ns), "worst_ns", integer(waits.worst_ns), "holds_timed",
                  (json_int_t)row.holds, "hold_mean_ns", integer(row.holds > 0 ? row.hold_ns / row.holds : 0),
                  "hold_worst_ns", integer(worst_hold(r, &row)), "unfinished", (json_int_t)0);
    if (lock == NULL)
        fail("out of memory");
    name_lock(r, &row, lock);
    r->locks[place] = (json_int_t)json_array_size(json_object_get(r->document, "locks"));
    table_append(r->document, "locks", lock);
}

/* Of those that nobody waited for: the most used, in their order. */
typedef struct quiet {
    uint32_t count, place[QUIET_LOCKS];
    uint64_t acquisitions[QUIET_LOCKS];
} quiet;

static void add_quiet(quiet *q, uint32_t place, uint64_t acquisitions)
{
    uint32_t at = q->count < QUIET_LOCKS ? q->count++ : QUIET_LOCKS;
    for (; at > 0 && q->acquisitions[at - 1] < acquisitions; at--)
        if (at < QUIET_LOCKS) {
            q->place[at] = q->place[at - 1];
            q->acquisitions[at] = q->acquisitions[at - 1];
        }
    if (at < QUIET_LOCKS) {
        q->place[at] = place;
        q->acquisitions[at] = acquisitions;
    }
}

void table_add_locks(reader *r)
{
    quiet q = {0};
    for (uint32_t i = 1, rows = table_rows(r->table); i < rows; i++) {
        const stats_row row = table_row(r, i);
        const tally waits = table_tally(r, i, &row);
        if (waits.count + waits.refused > 0) /* also if nobody got it */
            table_add_lock(r, i);
        else if (row.acquisitions > 0)
            add_quiet(&q, i, row.acquisitions);
    }
    for (uint32_t i = 0; i < q.count; i++)
        table_add_lock(r, q.place[i]);
}
