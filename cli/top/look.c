/* look.c - what changed since the last look at a process's tables */
#include "top.h"

#include "cli/cli.h"
#include "profile/copy.h"
#include "profile/document.h"

#include "src/park/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A minute, if every look comes in time. It is counted in looks, because a clock goes on while we are stopped. */
enum { MOST_MISSES = 1200 };

static bool compare(top *t, int order);

static top begin(live l, int process)
{
    top t = {.live = l, .process = process};
    t.acquisitions = allocate(STATS_LOCKS, sizeof *t.acquisitions);
    t.waits = allocate(STATS_LOCKS, sizeof *t.waits);
    t.waited_ns = allocate(STATS_LOCKS, sizeof *t.waited_ns);
    t.names = allocate(STATS_LOCKS, sizeof *t.names);
    t.locks = allocate(STATS_LOCKS, sizeof *t.locks);
    compare(&t, BY_WAIT);
    return t;
}

top top_open(uint32_t pid)
{
    live l = live_open(pid);
    return begin(l, (int)syscall(SYS_pidfd_open, l.pid, 0));
}

static void end(top *t)
{
    for (size_t i = 0; i < t->rows; i++)
        free(t->names[i]);
    free(t->names);
    free(t->acquisitions);
    free(t->waits);
    free(t->waited_ns);
    free(t->locks);
    live_close(&t->live);
}

void top_close(top *t)
{
    end(t);
    if (t->process >= 0)
        close(t->process);
}

static int order_of_locks;

static uint64_t weight(const top_lock *l)
{
    return order_of_locks == BY_WAIT    ? l->waited_ns
           : order_of_locks == BY_WORST ? l->worst_ns
                                        : l->acquisitions;
}

static int heavier(const void *a, const void *b)
{
    uint64_t left = weight(a), right = weight(b);
    return (left < right) - (left > right);
}

static uint64_t rate(uint64_t now, uint64_t *before, uint64_t ns)
{
    uint64_t since = now - *before;
    *before = now;
    return ns > 0 ? (uint64_t)((double)since * 1e9 / (double)ns) : 0;
}

static void look_at(top *t, uint32_t i, uint64_t elapsed)
{
    const stats_table *s = t->live.copy;
    const stats_row *row = &s->locks[i];
    static const stats_detail none;
    const stats_detail *d = table_detail(s, row) != NULL ? table_detail(s, row) : &none;
    bool lock = row->kind != STATS_COND;
    top_lock l = {.row = i,
                  .acquisitions = rate(row->acquisitions, &t->acquisitions[i], elapsed),
                  .waits = rate(d->wait.count + d->vain, &t->waits[i], elapsed),
                  .waited_ns = rate(d->wait.total_ns + d->vain_ns, &t->waited_ns[i], elapsed),
                  .worst_ns = d->wait.worst_ns > d->vain_worst_ns ? d->wait.worst_ns : d->vain_worst_ns,
                  .waiting = d->waiting,
                  .owner = lock ? row->owner : 0};
    if (lock && row->acquisitions + d->vain + l.waiting > 0)
        t->locks[t->count++] = l;
}

/* False if this program is gone. */
static bool compare(top *t, int order)
{
    if (!live_read(&t->live))
        return false;
    uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC), elapsed = t->taken_ns > 0 ? now - t->taken_ns : 0;
    t->taken_ns = now;
    t->rows = table_rows(t->live.copy);
    t->count = 0;
    for (uint32_t i = 1; i < t->rows; i++)
        look_at(t, i, elapsed);
    order_of_locks = order;
    qsort(t->locks, t->count, sizeof *t->locks, heavier);
    return true;
}

static bool has_ended(const top *t)
{
    if (t->process < 0)
        return kill((pid_t)t->live.pid, 0) != 0 && errno == ESRCH;
    return poll(&(struct pollfd){.fd = t->process, .events = POLLIN}, 1, 0) > 0;
}

top_state top_look(top *t, int order)
{
    live other;
    if (compare(t, order)) {
        t->misses = 0;
        return TOP_SEEN;
    }
    if (has_ended(t))
        return TOP_ENDED;
    if (!live_try(t->live.pid, &other))
        return ++t->misses < MOST_MISSES ? TOP_STARTING : TOP_LOST;
    end(t);
    *t = begin(other, t->process);
    return TOP_REPLACED;
}

/* The site of a stack, in the process as it is now. */
static const char *site_name(top *t, uint32_t stack, char *room)
{
    const stats_table *s = t->live.copy;
    const stats_stack *found = table_stack(s, stack);
    if (found == NULL)
        return "?";
    json_t *d = document_new("");
    json_int_t place = document_stack(d, t->live.symbols, &s->frames[found->first], found->depth);
    const char *text = site_text(d, json_array_get(json_object_get(d, "stacks"), (size_t)place), room);
    json_decref(d);
    return text;
}

const char *top_name(top *t, const top_lock *l)
{
    const stats_row *row = &t->live.copy->locks[l->row];
    char name[PLACE_ROOM + 32], place[PLACE_ROOM];
    if (t->names[l->row] != NULL)
        return t->names[l->row];
    if (!symbols_data(t->live.symbols, row->lock, name, sizeof name)) {
        if (row->first != 0)
            snprintf(name, sizeof name, "first used in %s", site_name(t, row->first, place));
        else
            snprintf(name, sizeof name, "0x%jx", (uintmax_t)row->lock);
    }
    t->names[l->row] = strdup(name);
    return t->names[l->row] != NULL ? t->names[l->row] : "?";
}

const char *top_holder(top *t, const top_lock *l, char *room, size_t size)
{
    const stats_row *row = &t->live.copy->locks[l->row];
    char place[PLACE_ROOM];
    room[0] = '\0';
    if (l->owner != 0 && row->stack != 0)
        snprintf(room, size, "thread %u in %s", (unsigned)l->owner, site_name(t, row->stack, place));
    else if (l->owner != 0)
        snprintf(room, size, "thread %u", (unsigned)l->owner);
    return room;
}
