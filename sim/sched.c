/* sched.c - threads on CPUs, in virtual time
 *
 * A fair scheduler in the manner of Linux's: every CPU has a queue, and runs the thread in it that has had the least CPU
 * time. A thread loses its CPU at the end of its slice, or to one that wakes up and has had much less. An idle CPU takes
 * a thread from another's queue; a thread that wakes up goes to an idle CPU if there is one.
 */
#include "sim.h"
#include "trace.h"
#include "watch.h"

/* ---- time on a CPU */

void sim_charge(sim_thread *t, sim_time amount)
{
    const sim_machine *m = &sim_hardware;
    if (m->cpus_per_core > 1 && sim_is_busy(t->cpu->core, t->cpu->id))
        amount = (sim_time)((double)amount * m->smt);
    t->clock += amount;
}

sim_time sim_cpu_time(const sim_thread *t, sim_time now)
{
    bool runs = t->cpu->current == t && now > t->since;
    return t->cpu_time + (runs ? now - t->since : 0);
}

static void account(sim_thread *t, sim_time now)
{
    sim_time had = now > t->since ? now - t->since : 0;
    t->cpu_time += had;
    t->virtual += had;
    t->since = t->away = now;
    if (t->virtual > t->cpu->least && t->cpu->queue == NULL)
        t->cpu->least = t->virtual;
}

/* ---- slices */

static void slice_over(void *of, unsigned generation);

static void arm(sim_cpu *c, sim_time when)
{
    c->slice_end = when;
    c->slice++;
    if (when != SIM_NEVER)
        sim_at(when, slice_over, c, c->slice);
}

static void switch_in(sim_cpu *c, sim_thread *t, sim_time when)
{
    const sim_machine *m = &sim_hardware;
    if (t->cpu != c) {
        t->virtual += c->least - t->cpu->least;
        t->cpu = c;
        watch_migration();
        when += m->migration;
    }
    trace_thread(t, t->state == SIM_BLOCKED ? "asleep" : "ready", SIM_OBJECTS, t->away, when + m->switching);
    c->current = t;
    c->since = t->since = when;
    t->clock = when + m->switching;
    t->state = SIM_RUNNING;
    if (t->left > 0) {
        t->state = SIM_COMPUTING;
        t->computed = t->clock + t->left;
        t->left = 0;
    }
    if (t->fiber != NULL)
        sim_resume_at(t, t->state == SIM_COMPUTING ? t->computed : t->clock);
    arm(c, c->queue != NULL ? t->clock + m->slice : SIM_NEVER);
}

void sim_leave_cpu(sim_thread *t, sim_time when)
{
    sim_cpu *c = t->cpu;
    account(t, when);
    c->current = NULL;
    sim_thread *other = sim_queue_take(c);
    if (other == NULL)
        other = sim_queue_steal(c);
    if (other != NULL)
        switch_in(c, other, when);
    else
        arm(c, SIM_NEVER);
}

/* Puts the thread behind the others of its CPU, of which there is at least one. */
static void change_places(sim_thread *t, sim_time when)
{
    sim_cpu *c = t->cpu;
    sim_thread *other = sim_queue_take(c);
    t->state = SIM_READY;
    sim_queue_add(c, t);
    c->current = NULL;
    switch_in(c, other, when);
}

static bool is_others_turn(sim_thread *t, sim_time when)
{
    account(t, when);
    const sim_thread *other = sim_queue_first(t->cpu);
    return other != NULL && other->virtual < t->virtual;
}

static void slice_over(void *of, unsigned generation)
{
    sim_cpu *c = of;
    sim_thread *t = c->current;
    sim_time now = sim_now();
    if (generation != c->slice || t == NULL)
        return;
    if (t->fiber != NULL && t->state == SIM_RUNNING)
        return; /* it is about to look at the clock itself */
    if (c->stores.busy) {
        arm(c, now + 100 * SIM_NS);
        return;
    }
    if (!is_others_turn(t, now)) {
        arm(c, c->queue != NULL ? now + sim_hardware.slice : SIM_NEVER);
        return;
    }
    if (t->state == SIM_COMPUTING)
        t->left = t->computed > now ? t->computed - now : 1;
    sim_line_unwatch(t);
    t->resumption++;
    watch_switch(false);
    change_places(t, now);
}

static void end_slice(sim_thread *t)
{
    sim_store_drain(t);
    if (!is_others_turn(t, t->clock)) {
        arm(t->cpu, t->cpu->queue != NULL ? t->clock + sim_hardware.slice : SIM_NEVER);
        return;
    }
    watch_switch(false);
    change_places(t, t->clock);
    sim_wait();
}

void sim_sync(sim_thread *t)
{
    t->clock += t->debt;
    t->debt = 0;
    if (sim_next_event() < t->clock) {
        sim_resume_at(t, t->clock);
        sim_wait();
    }
    while (t->clock >= t->cpu->slice_end)
        end_slice(t);
}

void sim_compute(sim_thread *t, sim_time amount)
{
    const sim_time brief = 500 * SIM_NS;
    sim_time from = t->clock;
    sim_charge(t, amount);
    if (t->clock - from < brief)
        return;
    t->computed = t->clock;
    t->clock = from;
    t->state = SIM_COMPUTING;
    sim_resume_at(t, t->computed);
    sim_wait();
}

void sim_stop_polling(sim_thread *t, sim_time when)
{
    if (t->state != SIM_POLLING)
        return;
    sim_line_unwatch(t);
    t->state = SIM_RUNNING;
    sim_resume_at(t, when);
}

/* ---- sleeping and waking */

void sim_block(sim_thread *t)
{
    t->state = SIM_BLOCKED;
    watch_switch(true);
    sim_leave_cpu(t, t->clock);
    sim_wait();
}

void sim_yield(sim_thread *t)
{
    account(t, t->clock);
    if (t->cpu->queue == NULL)
        return;
    watch_switch(true);
    change_places(t, t->clock);
    sim_wait();
}

static void preempt_for(sim_cpu *c, const sim_thread *t, sim_time when)
{
    const sim_machine *m = &sim_hardware;
    const sim_thread *current = c->current;
    uint64_t had = current->virtual + (when > current->since ? when - current->since : 0);
    sim_time end = c->since + m->slice > when ? c->since + m->slice : when;
    if (had > t->virtual + m->granularity)
        arm(c, when);
    else if (end < c->slice_end)
        arm(c, end);
}

/* A sleeper does not save up CPU time, but for a slice. */
static void enqueue(sim_thread *t, sim_cpu *c, sim_time when)
{
    uint64_t least = c->least > sim_hardware.slice ? c->least - sim_hardware.slice : 0;
    if (t->cpu != c) {
        t->virtual += c->least - t->cpu->least;
        t->cpu = c;
        watch_migration();
    }
    trace_thread(t, "asleep", SIM_OBJECTS, t->away, when);
    if ((int64_t)(t->virtual - least) < 0)
        t->virtual = least;
    t->away = when;
    t->state = SIM_READY;
    sim_queue_add(c, t);
    preempt_for(c, t, when);
}

void sim_wake(sim_thread *t, sim_time when)
{
    sim_cpu *c = sim_place(t);
    if (c->current == NULL)
        switch_in(c, t, when + sim_hardware.wake);
    else
        enqueue(t, c, when);
}

/* To the CPUs that it may use from now on. */
void sim_bind(sim_thread *t, unsigned first, unsigned end)
{
    t->first = first;
    t->end = end;
    if (t->cpu->id >= first && t->cpu->id < end)
        return;
    sim_store_drain(t);
    sim_leave_cpu(t, t->clock);
    t->cpu = &sim_cpus[first];
    sim_wake(t, t->clock);
    sim_wait();
}

void sim_start(sim_thread *t, sim_time when)
{
    if (t->cpu->current == NULL)
        switch_in(t->cpu, t, when);
    else
        enqueue(t, t->cpu, when);
}
