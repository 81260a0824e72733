/* sched.c - threads on CPUs, in virtual time
 *
 * EEVDF, as Linux has had it since 6.6. Every CPU has a queue. Of the threads that have had no more than the average of
 * the queue, it runs the one whose slice ends first. That one keeps the CPU until its slice is used up, unless it has had
 * more than the average. Others look for that at every tick, and when they wake up: so a thread that slept before it had
 * its share preempts at once. A thread that goes to sleep takes along how far behind it was; if it was ahead, it stays
 * with its CPU until the others have caught up.
 *
 * A thread that wakes up goes to an idle CPU if there is one. An idle CPU takes a thread from another's queue, but none
 * that ran a moment ago.
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
    t->virtual += (int64_t)had;
    t->since = t->since > now ? t->since : now;
    t->ran = t->away = now;
    if (t->virtual >= t->deadline)
        t->deadline = t->virtual + (int64_t)sim_hardware.slice;
}

/* ---- virtual time */

static void note_lag(sim_thread *t)
{
    int64_t most = 2 * (int64_t)sim_hardware.slice, lag = sim_average(t->cpu) - t->virtual;
    t->lag = lag > most ? most : lag < -most ? -most : lag;
}

/* Among the threads of a CPU, as far behind them as it was when it left. */
static void place(sim_thread *t, sim_cpu *c)
{
    int64_t others = c->queue_length + (c->current != NULL);
    int64_t lag = others > 0 ? t->lag * (others + 1) / others : 0;
    t->virtual = sim_average(c) - lag;
    t->deadline = t->virtual + (int64_t)sim_hardware.slice;
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

static sim_time next_tick(sim_time now)
{
    return (now / sim_hardware.tick + 1) * sim_hardware.tick;
}

static void arm_tick(sim_cpu *c, sim_time now)
{
    arm(c, c->queue != NULL ? next_tick(now) : SIM_NEVER);
}

/* It differs by what a thread finds in the caches. If all took the same, every tick would find a loop at the same place. */
static sim_time about(sim_time usual)
{
    return usual - usual / 4 + sim_random(usual / 2);
}

static void switch_in(sim_cpu *c, sim_thread *t, sim_time when)
{
    const sim_machine *m = &sim_hardware;
    if (t->cpu != c) {
        t->cpu = c;
        watch_migration();
        when += m->migration;
    }
    sim_time ready = when + about(m->switching);
    trace_thread(t, t->state == SIM_BLOCKED ? "asleep" : "ready", SIM_OBJECTS, t->away, ready);
    c->current = t;
    t->since = when;
    t->protected = t->virtual + (int64_t)m->slice;
    t->protected = t->deadline < t->protected ? t->deadline : t->protected;
    t->clock = ready;
    t->state = SIM_RUNNING;
    if (t->left > 0) {
        t->state = SIM_COMPUTING;
        t->computed = t->clock + t->left;
        t->left = 0;
    }
    if (t->fiber != NULL)
        sim_resume_at(t, t->state == SIM_COMPUTING ? t->computed : t->clock);
    arm_tick(c, t->clock);
    sim_covet(c);
}

/* From the queue of a CPU that has too many. */
static sim_thread *steal(sim_cpu *c, sim_time now)
{
    sim_thread *t = sim_queue_steal(c, now);
    if (t == NULL)
        return NULL;
    note_lag(t);
    place(t, c);
    return t;
}

void sim_leave_cpu(sim_thread *t, sim_time when)
{
    sim_cpu *c = t->cpu;
    account(t, when);
    note_lag(t);
    c->current = NULL;
    sim_thread *other = sim_queue_take(c);
    if (other == NULL && sim_hardware.pull == 0)
        other = steal(c, when);
    if (other != NULL) {
        switch_in(c, other, when);
    } else {
        c->idled = when;
        arm(c, SIM_NEVER);
    }
}

/* At a tick of a CPU where threads wait: those that idle take them, at once or sooner or later. */
static void balance(sim_time now)
{
    if (sim_random(sim_hardware.pull) > sim_hardware.tick)
        return;
    for (unsigned i = 0; i < sim_machine_cpus(&sim_hardware); i++) {
        sim_cpu *c = &sim_cpus[i];
        sim_thread *t = c->current == NULL ? steal(c, now) : NULL;
        if (t != NULL)
            switch_in(c, t, now + about(sim_hardware.wake));
    }
}

/* Puts the thread behind the others of its CPU, of which there is at least one. */
static void change_places(sim_thread *t, sim_time when)
{
    sim_cpu *c = t->cpu;
    sim_thread *other = sim_queue_take(c);
    c->current = NULL;
    if (other == NULL) /* all are ahead of it */
        other = sim_queue_take(c);
    t->state = SIM_READY;
    sim_queue_add(c, t);
    switch_in(c, other, when);
}

static bool is_others_turn(sim_thread *t, sim_time when)
{
    account(t, when);
    bool eligible = t->virtual <= sim_average(t->cpu);
    const sim_thread *other = sim_queue_first(t->cpu);
    if (other == NULL || (eligible && t->virtual < t->protected))
        return false;
    return !eligible || other->deadline < t->deadline;
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
        balance(now);
        arm_tick(c, now);
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
        balance(t->clock);
        arm_tick(t->cpu, t->clock);
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
    sim_resume_at(t, when > t->cpu->back ? when : t->cpu->back);
}

/* ---- sleeping and waking */

void sim_block(sim_thread *t)
{
    t->state = SIM_BLOCKED;
    watch_switch(true);
    sim_leave_cpu(t, t->clock);
    sim_wait();
}

/* After it has given up what is left of its slice. */
static bool is_still_its_turn(const sim_thread *t)
{
    const sim_thread *other = sim_queue_first(t->cpu);
    return t->virtual <= sim_average(t->cpu) && (other == NULL || t->deadline <= other->deadline);
}

void sim_yield(sim_thread *t)
{
    account(t, t->clock);
    if (t->cpu->queue != NULL && t->virtual <= sim_average(t->cpu)) {
        t->virtual = t->deadline;
        t->deadline += (int64_t)sim_hardware.slice;
    }
    if (t->cpu->queue == NULL || is_still_its_turn(t)) {
        sim_charge(t, sim_hardware.yield);
        return;
    }
    watch_switch(false); /* as Linux counts it */
    change_places(t, t->clock);
    sim_wait();
}

static void enqueue(sim_thread *t, sim_cpu *c, sim_time when)
{
    if (t->cpu != c) {
        t->cpu = c;
        watch_migration();
    }
    trace_thread(t, "asleep", SIM_OBJECTS, t->away, when);
    t->away = when;
    t->state = SIM_READY;
    sim_queue_add(c, t);
    if (is_others_turn(c->current, when) && sim_queue_first(c) == t)
        arm(c, when);
    else if (c->slice_end == SIM_NEVER)
        arm_tick(c, when);
}

/* It was ahead of the others when it fell asleep, and still is: the scheduler has kept it in its queue. */
static bool is_delayed(const sim_thread *t)
{
    sim_cpu *c = t->cpu;
    return t->lag < 0 && c->current != NULL && c->idled <= t->ran && t->virtual > sim_average(c);
}

static void wake_at(sim_thread *t, sim_cpu *c, sim_time when)
{
    if (c->current != NULL)
        account(c->current, when);
    if (!is_delayed(t)) {
        t->lag = t->lag > 0 ? t->lag : 0;
        place(t, c);
    }
    if (c->current != NULL)
        enqueue(t, c, when);
    else
        switch_in(c, t, when);
}

/* Its waker has had the lock of the CPU's run queue until the interrupt was sent. If the CPU has nothing to run by now, it has
 * waited for that lock, and finds the thread before it halts. */
static void come(void *of, unsigned generation)
{
    sim_thread *t = of;
    (void)generation;
    if (t->state != SIM_BLOCKED)
        lab_die("a thread was woken twice");
    if (t->cpu->current != NULL)
        t->cpu->current->debt += sim_hardware.interrupt;
    wake_at(t, t->cpu, sim_now());
}

/* If no CPU is idle, it comes to the one where it slept. */
bool sim_wake(sim_thread *t, sim_time when, const sim_cpu *waker)
{
    if (t->cpu->current != NULL)
        account(t->cpu->current, when);
    sim_cpu *c = is_delayed(t) ? t->cpu : sim_place(t);
    bool far = waker != NULL && waker != c;
    if (c->current != NULL && far) {
        t->resumption++; /* its timer is for nobody now */
        sim_at(when + sim_hardware.delivery + sim_hardware.ipi, come, t, 0);
    } else {
        wake_at(t, c, c->current == NULL ? when + about(sim_hardware.wake) : when);
    }
    return far;
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
    t->lag = 0;
    sim_wake(t, t->clock, NULL);
    sim_wait();
}

void sim_start(sim_thread *t, sim_time when)
{
    wake_at(t, t->cpu, when);
}
