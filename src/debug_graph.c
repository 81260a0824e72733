/* debug_graph.c - see debug_graph.h */
#include "debug_graph.h"

#define BUCKETS      (1 << 14)
#define EDGE_BUCKETS (1 << 16)

static debug_lock *locks[BUCKETS];
static debug_edge *edges[EDGE_BUCKETS];
static debug_lock *unused_locks;
static debug_edge *unused_edges;
static debug_thread *unused_threads;

/* ---- locks */

static debug_lock **bucket_of(const void *address)
{
    return &locks[(uint64_t)(uintptr_t)address * 0x9E3779B97F4A7C15u >> 50];
}

debug_lock *pawl_debug_lock_find(const void *address)
{
    debug_lock *l = *bucket_of(address);
    while (l != NULL && l->address != address)
        l = l->chain;
    return l;
}

debug_lock *pawl_debug_lock_get(const void *address, const char *kind)
{
    debug_lock *l = pawl_debug_lock_find(address);
    if (l != NULL)
        return l;
    l = unused_locks;
    if (l != NULL)
        unused_locks = l->chain;
    else if ((l = pawl_debug_memory(sizeof *l)) == NULL)
        return NULL;
    debug_lock **bucket = bucket_of(address);
    *l = (debug_lock){.address = address, .kind = kind, .chain = *bucket};
    *bucket = l;
    return l;
}

static void drop(debug_lock *l)
{
    debug_lock **at = bucket_of(l->address);
    while (*at != l)
        at = &(*at)->chain;
    *at = l->chain;
    l->chain = unused_locks;
    unused_locks = l;
}

void pawl_debug_lock_forget_unused(debug_lock *l)
{
    if (l->owner == NULL && l->in == NULL && l->out == NULL)
        drop(l);
}

void pawl_debug_lock_own(debug_lock *l, debug_thread *owner, const debug_stack *taken)
{
    l->owner = owner;
    l->taken = taken;
    l->next_held = owner->held;
    owner->held = l;
}

void pawl_debug_lock_disown(debug_lock *l)
{
    debug_lock **at = &l->owner->held;
    while (*at != l)
        at = &(*at)->next_held;
    *at = l->next_held;
    l->owner = NULL;
}

/* ---- order */

/* Hashed by both ends: a lock may come before very many, each of which is taken again and again. */
static debug_edge **edge_bucket(const debug_lock *from, const debug_lock *to)
{
    uint64_t both = (uint64_t)(uintptr_t)from * 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)to;
    return &edges[both * 0x9E3779B97F4A7C15u >> 48];
}

static debug_edge *find_edge(const debug_lock *from, const debug_lock *to)
{
    debug_edge *e = *edge_bucket(from, to);
    while (e != NULL && (e->from != from || e->to != to))
        e = e->chain;
    return e;
}

static void link_edge(debug_edge *e)
{
    debug_edge **bucket = edge_bucket(e->from, e->to);
    e->chain = *bucket;
    *bucket = e;
    if (e->next_out != NULL)
        e->next_out->at_out = &e->next_out;
    if (e->next_in != NULL)
        e->next_in->at_in = &e->next_in;
    *e->at_out = *e->at_in = e;
}

static void drop_edge(debug_edge *e)
{
    debug_edge **at = edge_bucket(e->from, e->to);
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    *e->at_out = e->next_out;
    *e->at_in = e->next_in;
    if (e->next_out != NULL)
        e->next_out->at_out = e->at_out;
    if (e->next_in != NULL)
        e->next_in->at_in = e->at_in;
    e->next_out = unused_edges;
    unused_edges = e;
}

void pawl_debug_lock_forget(debug_lock *l)
{
    while (l->out != NULL)
        drop_edge(l->out);
    while (l->in != NULL)
        drop_edge(l->in);
    if (l->owner != NULL)
        pawl_debug_lock_disown(l);
    drop(l);
}

bool pawl_debug_order(debug_lock *from, debug_lock *to, pid_t thread, const debug_stack *second)
{
    if (find_edge(from, to) != NULL)
        return false;
    debug_edge *e = unused_edges;
    if (e != NULL)
        unused_edges = e->next_out;
    else if ((e = pawl_debug_memory(sizeof *e)) == NULL)
        return false;
    *e = (debug_edge){.from = from,
                      .to = to,
                      .first = from->taken,
                      .second = second,
                      .thread = thread,
                      .next_out = from->out,
                      .next_in = to->in,
                      .at_out = &from->out,
                      .at_in = &to->in};
    link_edge(e);
    return true;
}

/* Breadth first, for the shortest path. */
bool pawl_debug_comes_before(debug_lock *from, debug_lock *to)
{
    static uint64_t search;
    debug_lock *last = from;
    from->search = ++search;
    from->way = NULL;
    from->next_found = NULL;
    for (debug_lock *at = from; at != NULL; at = at->next_found)
        for (const debug_edge *e = at->out; e != NULL; e = e->next_out) {
            if (e->to->search == search)
                continue;
            e->to->search = search;
            e->to->way = e;
            e->to->next_found = NULL;
            last = last->next_found = e->to;
            if (e->to == to)
                return true;
        }
    return false;
}

/* ---- threads */

debug_thread *pawl_debug_thread_new(pid_t id)
{
    debug_thread *t = unused_threads;
    if (t != NULL)
        unused_threads = t->next;
    else if ((t = pawl_debug_memory(sizeof *t)) == NULL)
        return NULL;
    *t = (debug_thread){.id = id};
    return t;
}

void pawl_debug_thread_free(debug_thread *t)
{
    t->next = unused_threads;
    unused_threads = t;
}
