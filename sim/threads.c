/* threads.c - the machine's CPUs and threads: how they come, and how threads go */
#include "sim.h"

#include <stdlib.h>

sim_cpu *sim_cpus;
sim_machine sim_hardware;
static sim_thread threads[SIM_MOST_THREADS], besides[SIM_MOST_BESIDE];
static unsigned thread_count, beside_count;

sim_thread *sim_self(void)
{
    return &threads[lab_current->id];
}

bool sim_is_booted(void)
{
    return sim_cpus != NULL;
}

static sim_time sum_of(const sim_thread *list, unsigned count)
{
    sim_time sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += sim_cpu_time(&list[i], sim_now());
    return sum;
}

void sim_cpu_times(sim_time *own, sim_time *beside)
{
    *own = sum_of(threads, thread_count);
    *beside = sum_of(besides, beside_count);
}

static void enter(void)
{
    sim_thread *t = sim_self();
    t->duty(t->of);
    sim_store_drain(t);
    t->state = SIM_ENDED;
    sim_leave_cpu(t, t->clock);
    sim_stop(); /* somebody may wait for its end */
    sim_wait();
}

static void begin(void *of, unsigned generation)
{
    (void)generation;
    sim_start(of, sim_now());
}

static sim_thread *prepare(sim_thread *t, unsigned first, unsigned end, unsigned start, sim_time when)
{
    *t = (sim_thread){.first = first, .end = end, .cpu = &sim_cpus[start], .state = SIM_READY};
    sim_at(when, begin, t, 0);
    return t;
}

sim_thread *sim_thread_new(unsigned first, unsigned end, unsigned start, sim_time when, void duty(void *of),
                           void *of)
{
    if (thread_count == SIM_MOST_THREADS)
        return NULL;
    sim_thread *t = prepare(&threads[thread_count], first, end, start, when);
    t->id = thread_count++;
    t->fiber = lab_fiber((int)t->id);
    t->duty = duty;
    t->of = of;
    lab_fiber_arm(t->fiber, enter);
    return t;
}

void sim_beside_new(unsigned start)
{
    if (beside_count < SIM_MOST_BESIDE)
        prepare(&besides[beside_count++], 0, sim_machine_cpus(&sim_hardware), start, 0)->id =
            SIM_MOST_THREADS;
}

void sim_boot(const sim_machine *m)
{
    sim_hardware = *m;
    unsigned count = sim_machine_cpus(m);
    sim_cpus = calloc(count, sizeof *sim_cpus);
    if (sim_cpus == NULL)
        lab_die("out of memory");
    for (unsigned i = 0; i < count; i++) {
        unsigned core = i / m->cpus_per_core, cluster = core / m->cores_per_cluster;
        sim_cpus[i] = (sim_cpu){.id = i,
                                .core = core,
                                .cluster = cluster,
                                .socket = cluster / m->clusters_per_socket,
                                .slice_end = SIM_NEVER};
    }
}
