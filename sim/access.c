/* access.c - what threads do with memory, as the lab's hooks report it
 *
 * A thread that polls the same words again and again, finds them in its cache and unchanged, may sleep until one of the
 * lines is taken from it: it would miss nothing. That holds for waits without an end only (sim_polls_sleep): a wait that
 * gives up after some rounds has to make them.
 */
#include "sim.h"
#include "trace.h"

#include "../lab/backend.h"

#include <string.h>

bool sim_polls_sleep;

enum { MOST_PERIOD = 4, ROUNDS = 2000 }; /* after a nap, it looks so often at what it does not poll */
static const sim_time first_nap = 50 * 1000 * SIM_NS;

uint64_t sim_accesses;

/* ---- polling */

static const sim_look *look_back(const sim_thread *t, unsigned distance)
{
    return &t->looks[(t->look_count - 1 - distance) % SIM_LOOKS];
}

static unsigned period_of(const sim_thread *t)
{
    for (unsigned p = 1; p <= MOST_PERIOD && 2 * p <= t->look_count; p++) {
        unsigned i = 0;
        for (; i < p; i++) {
            const sim_look *a = look_back(t, i), *b = look_back(t, i + p);
            if (a->pc != b->pc || a->address != b->address || a->value != b->value)
                break;
        }
        if (i == p)
            return p;
    }
    return 0;
}

static void poll_asleep(sim_thread *t, unsigned period)
{
    sim_time over = t->clock + t->nap;
    t->round = look_back(t, 0)->when - look_back(t, period)->when;
    for (unsigned i = 0; i < period; i++)
        sim_line_watch(sim_line_of(look_back(t, i)->address), t);
    t->state = SIM_POLLING;
    sim_resume_at(t, over);
    sim_time from = t->clock;
    sim_wait();
    trace_thread(t, "polls", sim_line_object(sim_line_of(look_back(t, 0)->address)), from, t->clock);
    sim_line_unwatch(t);
    t->look_count = 0;
    if (t->clock < over)
        return;
    t->patience = ROUNDS;
    t->nap *= 2;
}

static void forget_looks(sim_thread *t)
{
    t->look_count = 0;
    t->nap = first_nap;
}

static void note_look(sim_thread *t, const void *pc, uintptr_t address, uint64_t value)
{
    if (!sim_polls_sleep)
        return;
    t->looks[t->look_count++ % SIM_LOOKS] = (sim_look){pc, address, value, t->clock};
    unsigned period = period_of(t);
    if (period == 0)
        return;
    if (t->patience > 0) {
        t->patience--;
        return;
    }
    /* The words may have changed since they were looked at: a hit is not the newest value for ever. */
    for (unsigned i = 0; i < period; i++)
        if (!sim_line_has(sim_line_of(look_back(t, i)->address), t->cpu->id, false))
            return;
    poll_asleep(t, period);
}

/* ---- lines */

static void turn(sim_request *r)
{
    sim_resume_here((sim_thread *)((char *)r - offsetof(sim_thread, request)));
}

/* ---- misses that overlap
 *
 * A processor goes on while it waits, as far as its reorder buffer reaches, and asks for the lines that it will need. What it
 * makes of them later has been under way for as long as it stood still. A poll tells what comes next: nothing after it
 * was asked for before. */

sim_time sim_hidden(const sim_thread *t)
{
    sim_time worked = t->clock - t->misses_since - t->stood;
    return t->stood > 0 && worked <= sim_hardware.reach ? (sim_time)((double)t->stood * sim_hardware.overlap)
                                                        : 0;
}

static void stand_still(sim_thread *t, sim_time from)
{
    if (sim_hidden(t) == 0) {
        t->misses_since = from;
        t->stood = 0;
    }
    t->stood += t->clock - from;
}

static void forget_misses(sim_thread *t)
{
    t->stood = 0;
}

/* Has it looked here a moment ago, and changed nothing since? It may look at a few words in between: others that it
 * waits for, and now and then its policy. */
static bool is_poll(sim_thread *t, const void *pc, uintptr_t address)
{
    bool again = false;
    for (unsigned i = 0; i < SIM_RECENT; i++)
        again = again || (t->recent[i].pc == pc && t->recent[i].address == address);
    t->recent[t->recent_next++ % SIM_RECENT] = (sim_glance){pc, address};
    return again;
}

static void forget_polls(sim_thread *t)
{
    memset(t->recent, 0, sizeof t->recent);
}

static void fetch(sim_thread *t, sim_line *l, bool write)
{
    t->request =
        (sim_request){.line = l, .cpu = t->cpu->id, .write = write, .hidden = sim_hidden(t), .turn = turn};
    sim_line_ask(&t->request, t->clock);
    sim_wait();
}

static void come_ahead(sim_request *r)
{
    sim_thread *t = (sim_thread *)((char *)r - offsetof(sim_thread, request));
    t->ahead = sim_now() + r->response;
    if (t->awaits)
        sim_resume_here(t);
}

/* An atomic operation waits for earlier stores, but asks for its line meanwhile. */
static void drain(sim_thread *t, sim_line *l)
{
    sim_time from = t->clock, paid = t->paid;
    if (!t->cpu->stores.busy)
        return;
    bool asks = sim_store_may_ask(t->cpu, l);
    t->ahead = asks ? SIM_NEVER : 0;
    if (asks) {
        t->request = (sim_request){
            .line = l, .cpu = t->cpu->id, .write = true, .hidden = sim_hidden(t), .turn = come_ahead};
        sim_line_ask(&t->request, t->clock);
    }
    sim_store_drain(t);
    t->awaits = t->ahead == SIM_NEVER;
    if (t->awaits)
        sim_wait();
    t->awaits = false;
    t->clock = t->clock > t->ahead ? t->clock : t->ahead;
    stand_still(t, from + t->paid - paid); /* what others took from it is no wait for a line */
    if (asks)
        trace_thread(t, "write miss", sim_line_object(l), from, t->ahead);
    sim_sync(t);
}

static sim_line *begin(sim_thread *t, uintptr_t address)
{
    const sim_machine *m = &sim_hardware;
    sim_accesses++;
    sim_charge(t, m->hit < m->cycle ? m->hit : m->cycle); /* less than a cycle: it does several in one */
    sim_sync(t);
    return sim_line_of(address);
}

/* Returns true for a hit. What follows happens at once; then comes end(). */
static bool have(sim_thread *t, sim_line *l, bool write)
{
    if (sim_line_has(l, t->cpu->id, write)) {
        if (write)
            sim_line_modify(l);
        t->request.response = sim_hardware.hit;
        return true;
    }
    fetch(t, l, write);
    return false;
}

static void end(sim_thread *t, bool hit)
{
    const sim_request *r = &t->request;
    t->clock += r->response;
    if (hit)
        return;
    stand_still(t, r->asked);
    trace_thread(t, r->write ? "write miss" : "read miss", sim_line_object(r->line), r->asked, t->clock);
}

/* ---- the hooks */

static uint64_t load(uintptr_t address, unsigned size, int order, const void *pc)
{
    (void)order;
    sim_thread *t = sim_self();
    uint64_t value;
    sim_line *l = begin(t, address);
    if (sim_store_forward(t, address, size, &value))
        return value;
    if (sim_store_overlaps(t, address, size))
        sim_store_drain(t);
    bool hit = have(t, l, false);
    value = sim_read(address, size);
    end(t, hit);
    if (is_poll(t, pc, address))
        forget_misses(t);
    if (hit)
        note_look(t, pc, address, value);
    else
        forget_looks(t);
    return value;
}

/* An atomic operation waits for earlier stores, and takes the line for itself. */
static bool own(sim_thread *t, uintptr_t address)
{
    sim_line *l = begin(t, address);
    drain(t, l);
    return have(t, l, true);
}

static uint64_t rmw(uintptr_t address, unsigned size, enum lab_rmw op, uint64_t operand, int order,
                    const void *pc)
{
    (void)order;
    sim_thread *t = sim_self();
    bool hit = own(t, address);
    uint64_t old = sim_read(address, size), new = lab_apply(op, old, operand, size);
    sim_write(address, size, new);
    end(t, hit);
    sim_charge(t, sim_hardware.atomic);
    if (is_poll(t, pc, address))
        forget_misses(t);
    if (new != old)
        forget_polls(t);
    if (hit && new == old)
        note_look(t, pc, address, old);
    else
        forget_looks(t);
    return old;
}

static bool cas(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired, bool weak,
                int success, int failure, const void *pc)
{
    (void)weak, (void)success, (void)failure;
    sim_thread *t = sim_self();
    bool hit = own(t, address);
    uint64_t old = sim_read(address, size);
    bool done = old == *expected;
    if (done)
        sim_write(address, size, desired);
    end(t, hit);
    sim_charge(t, sim_hardware.atomic);
    *expected = old;
    if (is_poll(t, pc, address))
        forget_misses(t);
    if (done)
        forget_polls(t);
    if (hit && !done)
        note_look(t, pc, address, old);
    else
        forget_looks(t);
    return done;
}

static void store(uintptr_t address, unsigned size, uint64_t value, int order, const void *pc)
{
    sim_thread *t = sim_self();
    if (order == __ATOMIC_SEQ_CST) { /* an exchange, as compilers make it on x86 */
        rmw(address, size, LAB_EXCHANGE, value, order, pc);
        return;
    }
    sim_line *l = begin(t, address);
    forget_looks(t);
    forget_polls(t);
    if (!t->cpu->stores.busy && sim_line_has(l, t->cpu->id, true)) {
        sim_line_modify(l);
        sim_write(address, size, value);
        return;
    }
    sim_store_put(t, l, address, size, value);
}

static void fence(int order, const void *pc)
{
    (void)pc;
    sim_thread *t = sim_self();
    if (order != __ATOMIC_SEQ_CST)
        return;
    sim_sync(t);
    sim_store_drain(t);
    sim_charge(t, sim_hardware.fence);
}

static bool is_own_stack(uintptr_t address)
{
    const struct lab_fiber *f = lab_current;
    return address - f->stack_low < f->stack_high - f->stack_low;
}

static void plain_line(sim_thread *t, uintptr_t address, bool write)
{
    sim_line *l = begin(t, address);
    if (write) {
        forget_looks(t);
        forget_polls(t);
    }
    if (sim_line_has(l, t->cpu->id, write) && !(write && t->cpu->stores.busy)) {
        if (write)
            sim_line_modify(l);
        return;
    }
    if (write) {
        sim_store_put(t, l, address, 0, 0);
        return;
    }
    fetch(t, l, false);
    end(t, false);
}

/* Locals cost nothing: compilers instrument those of which an address is taken, and nobody else has it. */
static void plain(uintptr_t address, size_t size, bool write, const void *pc)
{
    (void)pc;
    if (is_own_stack(address))
        return;
    sim_thread *t = sim_self();
    uintptr_t line = sim_hardware.line;
    for (uintptr_t at = address / line; at <= (address + size - 1) / line; at++)
        plain_line(t, at * line, write);
}

static void enter_function(uintptr_t sp, const void *return_address)
{
    (void)sp, (void)return_address;
}

static void leave_function(void)
{
}

static void host_write(uintptr_t address, size_t size)
{
    (void)address, (void)size;
}

void sim_touch(sim_thread *t, uintptr_t address)
{
    bool hit = own(t, address);
    end(t, hit);
    sim_charge(t, sim_hardware.atomic);
    forget_looks(t);
}

const struct lab_backend sim_backend = {.plain = plain,
                                        .load = load,
                                        .store = store,
                                        .rmw = rmw,
                                        .cas = cas,
                                        .fence = fence,
                                        .enter_function = enter_function,
                                        .leave_function = leave_function,
                                        .host_write = host_write};
