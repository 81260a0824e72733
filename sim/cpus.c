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

/* The mean of the virtual times of those that run and are queued; the last one, if there are none. */
int64_t sim_average(sim_cpu *c)
{
    int64_t base = c->average, sum = 0, count = 0;
    if (c->current != NULL) {
        sum += c->current->virtual - base;
        count++;
    }
    for (const sim_thread *t = c->queue; t != NULL; t = t->queued, count++)
        sum += t->virtual - base;
    if (count > 0)
        c->average = base + sum / count;
    return c->average;
}

static bool may_take(const sim_cpu *taker, const sim_thread *t)
{
    return taker->id >= t->first && taker->id < t->end;
}

/* EEVDF: of those that have had no more than the average, the one whose slice would end first. */
static sim_thread **first_of(sim_cpu *c)
{
    sim_thread **best = NULL, **behind = NULL;
    int64_t average = sim_average(c);
    for (sim_thread **at = &c->queue; *at != NULL; at = &(*at)->queued) {
        if ((*at)->virtual <= average && (best == NULL || (*at)->deadline < (*best)->deadline))
            best = at;
        if (behind == NULL || (*at)->virtual < (*behind)->virtual)
            behind = at;
    }
    return best != NULL || c->current != NULL ? best : behind;
}

/* One that another CPU takes: not one whose data is in its cache still. */
static sim_thread **cold_of(sim_cpu *from, const sim_cpu *taker, sim_time now)
{
    for (sim_thread **at = &from->queue; *at != NULL; at = &(*at)->queued)
        if (may_take(taker, *at) && now >= (*at)->ran + sim_hardware.hot)
            return at;
    return NULL;
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
    sim_thread **at = first_of(c);
    return at != NULL ? *at : NULL;
}

sim_thread *sim_queue_take(sim_cpu *c)
{
    return take(c, first_of(c));
}

/* From the longest queue; of equal ones, from the nearest that follows. */
sim_thread *sim_queue_steal(sim_cpu *c, sim_time now)
{
    unsigned count = sim_machine_cpus(&sim_hardware);
    sim_cpu *from = NULL;
    for (unsigned i = 1; queued > 0 && i < count; i++) {
        sim_cpu *other = &sim_cpus[(c->id + i) % count];
        if (other->queue_length > (from != NULL ? from->queue_length : 0) && cold_of(other, c, now) != NULL)
            from = other;
    }
    return from != NULL ? take(from, cold_of(from, c, now)) : NULL;
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

enum { STAY_OF = 1000000 };

/* Where it ran last, or an idle CPU near it, or one farther away; else it waits where it ran. Some schedulers let it wait
 * there anyway, more often than not. */
sim_cpu *sim_place(const sim_thread *t)
{
    const sim_machine *m = &sim_hardware;
    unsigned each = m->cpus_per_core * m->cores_per_cluster, near = t->cpu->cluster * each;
    sim_cpu *c = is_idle(t->cpu, t, false) ? t->cpu : NULL;
    if (c == NULL && m->stay > 0 && (double)sim_random(STAY_OF) < m->stay * STAY_OF)
        return t->cpu;
    for (int whole = 1; c == NULL && whole >= 0; whole--)
        c = idle_among(t, near, each, whole);
    for (int whole = 1; c == NULL && whole >= 0; whole--)
        c = idle_among(t, 0, sim_machine_cpus(m), whole);
    return c != NULL ? c : t->cpu;
}
