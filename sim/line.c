/* line.c - cache lines, and the directory that serialises who gets them
 *
 * A core has a line or has not; capacity is not modelled. A request travels to the line's home, waits there for its
 * turn, takes effect, and the data travels back: two fifths of the latency before the turn, three fifths after it. A
 * transfer of ownership keeps the line busy until the data has arrived; a read of what nobody owns keeps it only for
 * a moment, so that readers overlap.
 */
#include "sim.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

enum { CORE_WORDS = SIM_MOST_CPUS / 64, NOBODY = -1 };

typedef enum line_state {
    SHARED,
    EXCLUSIVE,
    OWNED,
    MODIFIED
} line_state; /* of the owner; SHARED: there is none */

struct sim_line {
    uintptr_t tag;
    uint64_t copies[CORE_WORDS]; /* the owner's is one */
    unsigned copy_count;
    int owner, forwarder, home; /* cores, and a socket */
    line_state state;
    sim_object object;
    sim_time busy; /* until then */
    bool called;   /* an event will serve the queue */
    sim_request *first, **end;
    sim_watch *watches;
};

/* ---- the table of lines */

enum { TABLE_BITS = 16, TABLE = 1 << TABLE_BITS };

static sim_line *table[TABLE];
static unsigned line_count;

static sim_line *line_new(uintptr_t tag)
{
    if (++line_count > TABLE / 2)
        lab_die("too many cache lines");
    sim_line *l = calloc(1, sizeof *l);
    if (l == NULL)
        lab_die("out of memory");
    l->tag = tag;
    l->owner = l->forwarder = l->home = NOBODY;
    l->object = watch_object(tag * sim_hardware.line);
    l->end = &l->first;
    return l;
}

sim_line *sim_line_of(uintptr_t address)
{
    uintptr_t tag = address / sim_hardware.line;
    unsigned at = (unsigned)(tag * 0x9e3779b97f4a7c15u >> (64 - TABLE_BITS));
    while (table[at] != NULL && table[at]->tag != tag)
        at = (at + 1) % TABLE;
    if (table[at] == NULL)
        table[at] = line_new(tag);
    return table[at];
}

/* ---- copies */

static bool has_copy(const sim_line *l, unsigned core)
{
    return l->copies[core / 64] >> core % 64 & 1;
}

static void add_copy(sim_line *l, unsigned core)
{
    if (has_copy(l, core))
        return;
    l->copies[core / 64] |= (uint64_t)1 << core % 64;
    l->copy_count++;
}

static void clear_copies(sim_line *l)
{
    memset(l->copies, 0, sizeof l->copies);
    l->copy_count = 0;
    l->owner = l->forwarder = NOBODY;
    l->state = SHARED;
}

static unsigned cluster_of(unsigned core)
{
    return core / sim_hardware.cores_per_cluster;
}

static unsigned socket_of(unsigned core)
{
    return cluster_of(core) / sim_hardware.clusters_per_socket;
}

static sim_distance distance(unsigned a, unsigned b)
{
    return a == b                           ? SIM_SAME_CORE
           : cluster_of(a) == cluster_of(b) ? SIM_SAME_CLUSTER
           : socket_of(a) == socket_of(b)   ? SIM_SAME_SOCKET
                                            : SIM_OTHER_SOCKET;
}

static bool cluster_has_copy(const sim_line *l, unsigned cluster)
{
    unsigned first = cluster * sim_hardware.cores_per_cluster;
    for (unsigned core = first; core < first + sim_hardware.cores_per_cluster; core++)
        if (has_copy(l, core))
            return true;
    return false;
}

bool sim_line_has(const sim_line *l, unsigned cpu, bool write)
{
    unsigned core = sim_cpus[cpu].core;
    return write ? l->owner == (int)core && (l->state == EXCLUSIVE || l->state == MODIFIED)
                 : has_copy(l, core);
}

void sim_line_modify(sim_line *l)
{
    l->state = MODIFIED;
}

/* ---- pollers */

void sim_line_watch(sim_line *l, sim_thread *t)
{
    sim_watch *w = &t->watches[t->watch_count++];
    *w = (sim_watch){.thread = t, .line = l, .next = l->watches, .back = &l->watches};
    if (w->next != NULL)
        w->next->back = &w->next;
    l->watches = w;
}

void sim_line_unwatch(sim_thread *t)
{
    while (t->watch_count > 0) {
        sim_watch *w = &t->watches[--t->watch_count];
        *w->back = w->next;
        if (w->next != NULL)
            w->next->back = w->back;
    }
}

/* Those of one core, or of all. A poller notices somewhere in its round. */
static void wake_pollers(sim_line *l, int core, sim_time when)
{
    for (sim_watch *w = l->watches, *next; w != NULL; w = next) {
        sim_thread *t = w->thread;
        next = w->next;
        while (next != NULL && next->thread == t)
            next = next->next;
        if (core == NOBODY || t->cpu->core == (unsigned)core)
            sim_stop_polling(t, when + sim_random(t->round));
    }
}

/* ---- what a request costs */

static sim_distance farther(sim_distance a, sim_distance b)
{
    return a > b ? a : b;
}

static sim_distance from_home(const sim_line *l, unsigned core)
{
    return l->home == (int)socket_of(core) ? SIM_SAME_SOCKET : SIM_OTHER_SOCKET;
}

/* Where a read finds the line. */
static sim_distance nearest(const sim_line *l, unsigned core)
{
    if (l->owner != NOBODY)
        return farther(distance(core, (unsigned)l->owner), cluster_of(core) == cluster_of((unsigned)l->owner)
                                                               ? SIM_SAME_CORE
                                                               : from_home(l, core));
    if (cluster_has_copy(l, cluster_of(core)))
        return SIM_SAME_CLUSTER;
    if (sim_hardware.protocol == SIM_MESIF && l->forwarder != NOBODY)
        return farther(distance(core, (unsigned)l->forwarder), from_home(l, core));
    return from_home(l, core);
}

/* The farthest copy that a write has to invalidate; and what the others add. */
static sim_distance farthest(const sim_line *l, unsigned core, sim_time *others)
{
    sim_distance far = SIM_SAME_CORE;
    const sim_time *each = sim_hardware.invalidation;
    *others = 0;
    for (unsigned w = 0; w < CORE_WORDS; w++)
        for (uint64_t left = l->copies[w]; left != 0; left &= left - 1) {
            unsigned copy = w * 64 + (unsigned)__builtin_ctzll(left);
            if (copy == core)
                continue;
            far = farther(far, distance(core, copy));
            *others += each[distance(core, copy)];
        }
    if (far != SIM_SAME_CORE)
        *others -= each[far];
    return far > SIM_SAME_CLUSTER ? farther(far, from_home(l, core)) : far;
}

static sim_time latency(const sim_line *l, unsigned core, bool write, sim_distance *d)
{
    const sim_machine *m = &sim_hardware;
    if (l->copy_count == 0) {
        *d = from_home(l, core);
        return m->memory +
               (*d == SIM_OTHER_SOCKET ? m->read[SIM_OTHER_SOCKET] - m->read[SIM_SAME_SOCKET] : 0);
    }
    if (!write)
        return m->read[*d = nearest(l, core)];
    sim_time others;
    *d = farthest(l, core, &others);
    return (has_copy(l, core) ? m->upgrade : m->write)[*d] + others;
}

static sim_time less(sim_time all, sim_time hidden)
{
    return all > hidden ? all - hidden : 0;
}

/* ---- a request's turn */

static bool moves_to_readers(const sim_line *l)
{
    return sim_hardware.protocol == SIM_MIGRATORY && l->state == MODIFIED;
}

static void grant_read(sim_line *l, unsigned core, sim_time now)
{
    bool first = l->copy_count == 0 || moves_to_readers(l);
    if (first) {
        wake_pollers(l, NOBODY, now);
        clear_copies(l);
    } else if (l->owner != NOBODY) {
        unsigned owner = (unsigned)l->owner;
        bool keeps = sim_hardware.protocol == SIM_MOESI && l->state != EXCLUSIVE;
        if (l->state != OWNED)
            wake_pollers(l, (int)owner, now); /* it can no longer write without asking */
        l->state = keeps ? OWNED : SHARED;
        l->owner = keeps ? l->owner : NOBODY;
    }
    add_copy(l, core);
    l->forwarder = (int)core;
    if (first) {
        l->owner = (int)core;
        l->state = EXCLUSIVE;
    }
}

static void grant_write(sim_line *l, unsigned core, sim_time now)
{
    clear_copies(l);
    add_copy(l, core);
    l->owner = (int)core;
    l->state = MODIFIED;
    wake_pollers(l, NOBODY, now);
}

static void serve(sim_request *r, sim_time now)
{
    sim_line *l = r->line;
    unsigned core = sim_cpus[r->cpu].core;
    if (sim_line_has(l, r->cpu, r->write)) { /* the other CPU of the core has fetched it meanwhile */
        r->response = 0;
    } else {
        sim_distance d;
        bool owned = l->owner != NOBODY, upgrade = r->write && has_copy(l, core), cold = l->copy_count == 0;
        sim_time all = latency(l, core, r->write, &d), back = all - all * 2 / 5;
        r->response = less(back, r->hidden);
        l->busy = now + (r->write || owned ? back + sim_hardware.atomic : sim_hardware.occupancy);
        watch_transfer(l->object, r->write, upgrade, cold,
                       r->write ? l->copy_count - upgrade : moves_to_readers(l), d == SIM_OTHER_SOCKET);
        (r->write ? grant_write : grant_read)(l, core, now);
    }
    r->turn(r);
}

static void serve_queue(void *of, unsigned generation)
{
    (void)generation;
    sim_line *l = of;
    sim_request *r = l->first;
    l->first = r->next;
    l->called = l->first != NULL;
    if (!l->called)
        l->end = &l->first;
    serve(r, sim_now());
    if (l->called)
        sim_at(l->busy > sim_now() ? l->busy : sim_now(), serve_queue, l, 0);
}

static void arrive(void *of, unsigned generation)
{
    (void)generation;
    sim_request *r = of;
    sim_line *l = r->line;
    if (!l->called && l->busy <= sim_now()) {
        serve(r, sim_now());
        return;
    }
    r->next = NULL;
    *l->end = r;
    l->end = &r->next;
    if (!l->called)
        sim_at(l->busy, serve_queue, l, 0);
    l->called = true;
}

sim_object sim_line_object(const sim_line *l)
{
    return l->object;
}

void sim_line_ask(sim_request *r, sim_time when)
{
    r->asked = when;
    sim_line *l = r->line;
    sim_distance d;
    unsigned core = sim_cpus[r->cpu].core;
    if (l->home == NOBODY)
        l->home = (int)socket_of(core); /* who touches it first has it near */
    sim_time way = latency(l, core, r->write, &d) * 2 / 5, left = less(way, r->hidden);
    r->hidden -= way - left;
    sim_at(when + left, arrive, r, 0);
}
