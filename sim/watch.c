/* watch.c - counts transfers of lines by object, and follows the lock from owner to owner */
#include "trace.h"
#include "watch.h"

#include "../bench/histogram.h"

#include <stdlib.h>
#include <string.h>

/* ---- objects */

typedef struct region {
    uintptr_t from, end;
    sim_object object;
} region;

static region *regions;
static size_t region_count;

void watch_region(const void *from, size_t size, sim_object object)
{
    regions = realloc(regions, (region_count + 1) * sizeof *regions);
    if (regions == NULL)
        lab_die("out of memory");
    regions[region_count++] = (region){(uintptr_t)from, (uintptr_t)from + size, object};
}

sim_object watch_object(uintptr_t address)
{
    for (size_t i = region_count; i-- > 0;)
        if (address >= regions[i].from && address < regions[i].end)
            return regions[i].object;
    return lab_fiber_of_stack(address) != NULL || lab_fiber_of_tls(address) != NULL ? SIM_ELEMENT : SIM_OTHER;
}

/* ---- counts */

static bool counting;
static bench_lines lines[SIM_OBJECTS];
watch_counts watch_switches;

static struct {
    histogram handover; /* in nanoseconds */
    uint64_t entries, overtaken, most_overtaken;
    sim_time waited; /* on a CPU */
} lock;

static sim_thread *last_owner;
static sim_time left_at;
static sim_thread *waiters[SIM_MOST_THREADS];
static unsigned waiter_count;

void watch_start(void)
{
    counting = true;
    trace_measure();
    memset(lines, 0, sizeof lines);
    memset(&lock, 0, sizeof lock);
}

void watch_stop(void)
{
    counting = false;
}

void watch_transfer(sim_object object, bool write, bool upgrade, bool cold, unsigned copies, bool remote)
{
    if (!counting || cold)
        return;
    bench_lines *l = &lines[object];
    *(upgrade ? &l->upgrades : write ? &l->write_misses : &l->read_misses) += 1;
    l->invalidations += copies;
    l->remote += remote;
}

void watch_switch(bool voluntary)
{
    (*(voluntary ? &watch_switches.voluntary : &watch_switches.involuntary))++;
}

void watch_migration(void)
{
    watch_switches.migrations++;
}

/* ---- the lock */

void watch_arrives(sim_thread *t)
{
    if (!t->waiting)
        waiters[waiter_count++] = t;
    t->waiting = true;
    t->arrived = t->clock;
    t->cpu_at_arrival = sim_cpu_time(t, t->clock);
    t->overtaken = 0;
}

static void remove_waiter(const sim_thread *t)
{
    for (unsigned i = 0; i < waiter_count; i++)
        if (waiters[i] == t) {
            waiters[i] = waiters[--waiter_count];
            return;
        }
}

void watch_enters(sim_thread *t)
{
    if (!t->waiting)
        return;
    t->waiting = false;
    t->entered = t->clock;
    trace_thread(t, "waits", SIM_OBJECTS, t->arrived, t->clock);
    remove_waiter(t);
    for (unsigned i = 0; i < waiter_count; i++)
        waiters[i]->overtaken += waiters[i]->arrived < t->arrived;
    if (!counting)
        return;
    lock.entries++;
    lock.overtaken += t->overtaken;
    lock.most_overtaken = t->overtaken > lock.most_overtaken ? t->overtaken : lock.most_overtaken;
    lock.waited += sim_cpu_time(t, t->clock) - t->cpu_at_arrival;
    if (last_owner != NULL && last_owner != t && t->arrived < left_at && t->clock > left_at)
        histogram_add(&lock.handover, (t->clock - left_at) / SIM_NS);
}

void watch_leaves(sim_thread *t)
{
    last_owner = t;
    trace_thread(t, "has the lock", SIM_OBJECTS, t->entered, t->clock);
    left_at = t->clock;
}

/* ---- the answer */

void watch_answer(bench_run *run)
{
    bench_simulated *s = &run->simulated;
    double each = run->acquisitions > 0 ? 1 / run->acquisitions : 0;
    s->is = true;
    for (int i = 0; i < SIM_OBJECTS; i++)
        s->lines[i] =
            (bench_lines){lines[i].read_misses * each, lines[i].write_misses * each, lines[i].upgrades * each,
                          lines[i].invalidations * each, lines[i].remote * each};
    bool seen = lock.entries > 0;
    s->handover_p50_ns = lock.handover.total > 0 ? (double)histogram_quantile(&lock.handover, 0.5) : -1;
    s->handover_p99_ns = lock.handover.total > 0 ? (double)histogram_quantile(&lock.handover, 0.99) : -1;
    s->bypass_mean = seen ? (double)lock.overtaken / (double)lock.entries : -1;
    s->bypass_most = seen ? (double)lock.most_overtaken : -1;
    s->waiting_cpu_ns = seen ? (double)lock.waited / SIM_NS / (double)lock.entries : -1;
}
