/* cpus.c - the CPUs' queues, and where threads go */
#include "sim.h"

static unsigned queued; /* in all queues */

void sim_queue_add(sim_cpu *c, sim_thread *t)
{
    sim_thread **end = &c->queue;
    while (*end != NULL)
        end = &(*end)->queued;
    *end = t;
    t->queued = NULL;
    c->queue_length++;
    queued++;
}

static sim_thread **first_of(sim_cpu *c, const sim_cpu *taker)
{
    sim_thread **best = NULL;
    for (sim_thread **at = &c->queue; *at != NULL; at = &(*at)->queued)
        if (taker->id >= (*at)->first && taker->id < (*at)->end &&
            (best == NULL || (*at)->virtual < (*best)->virtual))
            best = at;
    return best;
}

static sim_thread *take(sim_cpu *c, sim_thread **at)
{
    if (at == NULL)
        return NULL;
    sim_thread *t = *at;
    *at = t->queued;
    c->queue_length--;
    queued--;
    return t;
}

sim_thread *sim_queue_first(sim_cpu *c)
{
    sim_thread **at = first_of(c, c);
    return at != NULL ? *at : NULL;
}

sim_thread *sim_queue_take(sim_cpu *c)
{
    sim_thread *t = take(c, first_of(c, c));
    if (t != NULL && t->virtual > c->least)
        c->least = t->virtual;
    return t;
}

/* From the longest queue; of equal ones, from the nearest that follows. */
sim_thread *sim_queue_steal(sim_cpu *c)
{
    unsigned count = sim_machine_cpus(&sim_hardware);
    sim_cpu *from = NULL;
    for (unsigned i = 1; queued > 0 && i < count; i++) {
        sim_cpu *other = &sim_cpus[(c->id + i) % count];
        if (other->queue_length > (from != NULL ? from->queue_length : 0) && first_of(other, c) != NULL)
            from = other;
    }
    return from != NULL ? take(from, first_of(from, c)) : NULL;
}

bool sim_is_busy(unsigned core, unsigned except_cpu)
{
    unsigned each = sim_hardware.cpus_per_core;
    for (unsigned i = core * each; i < (core + 1) * each; i++)
        if (i != except_cpu && sim_cpus[i].current != NULL && sim_cpus[i].current->state != SIM_POLLING)
            return true;
    return false;
}

static bool is_idle(const sim_cpu *c, const sim_thread *t, bool whole_core)
{
    return c->current == NULL && c->id >= t->first && c->id < t->end &&
           !(whole_core && sim_is_busy(c->core, c->id));
}

static sim_cpu *idle_among(const sim_thread *t, unsigned first, unsigned count, bool whole_core)
{
    for (unsigned i = 0; i < count; i++) {
        sim_cpu *c = &sim_cpus[first + (t->cpu->id - first + i) % count];
        if (is_idle(c, t, whole_core))
            return c;
    }
    return NULL;
}

/* Where it ran last, or an idle CPU near it, or one farther away; else it waits where it ran. */
sim_cpu *sim_place(const sim_thread *t)
{
    const sim_machine *m = &sim_hardware;
    unsigned each = m->cpus_per_core * m->cores_per_cluster, near = t->cpu->cluster * each;
    sim_cpu *c = is_idle(t->cpu, t, false) ? t->cpu : NULL;
    for (int whole = 1; c == NULL && whole >= 0; whole--)
        c = idle_among(t, near, each, whole);
    for (int whole = 1; c == NULL && whole >= 0; whole--)
        c = idle_among(t, 0, sim_machine_cpus(m), whole);
    return c != NULL ? c : t->cpu;
}
