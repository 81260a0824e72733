/* store.c - store buffers: a store that misses does not hold up its thread
 *
 * Stores become visible in the order in which they were made, as on x86. Where misses overlap, each asks for its line at
 * once. A plain store is in memory at once, because the compiled code makes it; nobody may look at it before a later
 * release anyway.
 */
#include "sim.h"
#include "trace.h"

static void start(void *of, unsigned generation);

static sim_stores *stores_of(const sim_thread *t)
{
    return &t->cpu->stores;
}

static void finish_first(sim_cpu *c, sim_time when)
{
    sim_stores *b = &c->stores;
    when = when > b->next ? when : b->next;
    sim_store *s = &b->entries[b->first];
    sim_line_modify(s->line);
    if (s->size > 0)
        sim_write(s->address, s->size, s->value);
    b->first = (b->first + 1) % SIM_STORES_MOST;
    b->count--;
    b->left++;
    b->next = when;
    sim_at(when, start, c, 0);
}

static void turn(sim_request *r)
{
    sim_cpu *c = &sim_cpus[r->cpu];
    sim_store *s = (sim_store *)((char *)r - offsetof(sim_store, request));
    s->there = sim_now() + r->response;
    s->asked = false;
    sim_time free = c->stores.traced; /* spans of one track nest, or follow each other */
    trace_stores(c, "store", sim_line_object(r->line), r->asked > free ? r->asked : free, s->there);
    c->stores.traced = free > s->there ? free : s->there;
    if (s == &c->stores.entries[c->stores.first])
        finish_first(c, s->there);
}

static void ask(sim_cpu *c, sim_store *s, sim_time when, sim_time hidden)
{
    s->asked = true;
    s->request = (sim_request){.line = s->line, .cpu = c->id, .write = true, .hidden = hidden, .turn = turn};
    sim_line_ask(&s->request, when);
}

static void wake_waiter(sim_stores *b)
{
    sim_thread *t = b->drained;
    b->drained = NULL;
    if (t != NULL)
        sim_resume_at(t, sim_now());
}

/* The first store gets under way, if it is not; called while `busy`. */
static void start(void *of, unsigned generation)
{
    (void)generation;
    sim_cpu *c = of;
    sim_stores *b = &c->stores;
    if (sim_now() < b->next) /* its turn came first: it starts the next one when its line is there */
        return;
    if (b->drained != NULL && b->count == 0)
        wake_waiter(b);
    if (b->count == 0) {
        b->busy = false;
        return;
    }
    sim_store *s = &b->entries[b->first];
    sim_time now = sim_now() + sim_hardware.cycle;
    if (s->asked)
        return; /* its turn finishes it */
    if (sim_line_has(s->line, c->id, true))
        finish_first(c, s->there > now ? s->there : now);
    else /* or somebody has taken it again */
        ask(c, s, sim_now(), 0);
}

bool sim_store_may_ask(const sim_cpu *c, const sim_line *l)
{
    const sim_stores *b = &c->stores;
    if (sim_hardware.overlap == 0 || sim_line_has(l, c->id, true))
        return false;
    for (unsigned i = 0; i < b->count; i++) {
        const sim_store *s = &b->entries[(b->first + i) % SIM_STORES_MOST];
        if (s->line == l && s->asked)
            return false;
    }
    return true;
}

static bool joins_last(const sim_stores *b, const sim_line *l, unsigned size)
{
    unsigned last = (b->first + b->count - 1) % SIM_STORES_MOST;
    return size == 0 && b->count > 1 && b->entries[last].line == l && b->entries[last].size == 0;
}

void sim_store_put(sim_thread *t, sim_line *l, uintptr_t address, unsigned size, uint64_t value)
{
    sim_stores *b = stores_of(t);
    if (joins_last(b, l, size))
        return;
    if (b->count >= sim_hardware.stores)
        sim_store_drain(t);
    bool asks = sim_store_may_ask(t->cpu, l);
    sim_store *s = &b->entries[(b->first + b->count++) % SIM_STORES_MOST];
    *s = (sim_store){.line = l, .address = address, .size = size, .value = value};
    b->entered++;
    if (asks)
        ask(t->cpu, s, t->clock, sim_hidden(t));
    if (!b->busy) {
        b->busy = true;
        sim_at(t->clock, start, t->cpu, 0);
    }
}

static const sim_store *find(const sim_thread *t, uintptr_t address, unsigned size)
{
    const sim_stores *b = stores_of(t);
    for (unsigned i = b->count; i-- > 0;) {
        const sim_store *s = &b->entries[(b->first + i) % SIM_STORES_MOST];
        if (s->size > 0 && s->address < address + size && address < s->address + s->size)
            return s;
    }
    return NULL;
}

bool sim_store_forward(const sim_thread *t, uintptr_t address, unsigned size, uint64_t *value)
{
    const sim_store *s = find(t, address, size);
    if (s == NULL || s->address != address || s->size != size)
        return false;
    *value = s->value;
    return true;
}

bool sim_store_overlaps(const sim_thread *t, uintptr_t address, unsigned size)
{
    return find(t, address, size) != NULL;
}

void sim_store_drain(sim_thread *t)
{
    sim_stores *b = stores_of(t);
    if (!b->busy)
        return;
    b->drained = t;
    sim_wait();
    if (t->clock < b->next)
        lab_die("a store buffer was left before its last line was there");
}
