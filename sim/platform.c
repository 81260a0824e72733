/* platform.c - the benchmark's threads, memory and work on the simulated machine */
#include "platform.h"
#include "answer.h"
#include "config.h"
#include "sim.h"
#include "watch.h"

#include "../lab/backend.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#undef aligned_alloc

/* ---- memory at addresses that are the same in every run */

enum { ARENA = 64 << 20, MOST_JOBS = SIM_MOST_THREADS };

static void *arena_take(size_t size, size_t alignment)
{
    static char *arena;
    static size_t used;
    if (arena == NULL)
        arena = lab_map(ARENA);
    used = (used + alignment - 1) / alignment * alignment;
    if (used + size > ARENA)
        return NULL;
    void *p = arena + used;
    used += size;
    return p;
}

/* Of the workload: data, unless it says otherwise. */
void *sim_aligned_alloc(size_t alignment, size_t size)
{
    void *p = arena_take(size, alignment);
    if (p != NULL)
        watch_region(p, size, SIM_DATA);
    return p;
}

/* Of libpawl: queue nodes. */
void *sim_memory(size_t size)
{
    void *p = arena_take(size, 4096);
    if (p == NULL)
        return MAP_FAILED;
    watch_region(p, size, SIM_ELEMENT);
    return p;
}

/* ---- threads */

typedef struct job {
    void *(*start)(void *);
    void *argument;
    sim_thread *thread;
} job;

static job jobs[MOST_JOBS];
static unsigned job_count;

static void run_job(void *of)
{
    job *j = of;
    j->start(j->argument);
}

int sim_create(pthread_t *thread, const pthread_attr_t *attributes, void *start(void *), void *argument)
{
    (void)attributes;
    unsigned cpus = sim_machine_cpus(&sim_hardware), index = job_count;
    if (index == MOST_JOBS)
        return EAGAIN;
    job *j = &jobs[job_count++];
    *j = (job){.start = start, .argument = argument};
    lab_fibers_prepare((int)job_count);
    j->thread = sim_thread_new(0, cpus, sim_machine_scatter(&sim_hardware, index % cpus),
                               sim_now() + sim_random(1000 * SIM_NS), run_job, j);
    *thread = (pthread_t)index;
    return 0;
}

static _Noreturn void stuck(void)
{
    fprintf(stderr, "pawl: the simulated threads wait for ever\n");
    _exit(2);
}

static bool has_ended(const void *of)
{
    return ((const job *)of)->thread->state == SIM_ENDED;
}

int sim_join(pthread_t thread, void **result)
{
    (void)result;
    if (!sim_run(SIM_NEVER, has_ended, &jobs[(size_t)thread]))
        stuck();
    return 0;
}

/* ---- the barrier: the host lets time pass until all threads are there */

static sim_thread *arrived[MOST_JOBS];
static unsigned arrived_count, awaited;

int sim_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned count)
{
    (void)b, (void)attributes;
    awaited = count - 1; /* the host is one of them */
    return 0;
}

static bool all_arrived(const void *of)
{
    (void)of;
    return arrived_count == awaited;
}

int sim_barrier_wait(pthread_barrier_t *b)
{
    (void)b;
    if (lab_current != NULL) {
        sim_thread *t = sim_self();
        arrived[arrived_count++] = t;
        sim_stop();
        sim_block(t);
        return 0;
    }
    if (!sim_run(SIM_NEVER, all_arrived, NULL))
        stuck();
    arrived_count = 0;
    for (unsigned i = 0; i < awaited; i++)
        sim_wake(arrived[i], sim_now(), NULL);
    return 0;
}

/* ---- CPUs */

int sim_set_cpubind(hwloc_topology_t t, hwloc_const_cpuset_t set, int flags)
{
    (void)t, (void)flags;
    sim_bind(sim_self(), (unsigned)hwloc_bitmap_first(set), (unsigned)hwloc_bitmap_last(set) + 1);
    return 0;
}

/* ---- work: steps of the generator that the lock protects are the critical section */

sim_time sim_private_section;

static const void *protected[2];

void sim_protects(const void *data, const void *twister)
{
    protected[0] = data;
    protected[1] = twister;
}

static bool is_protected(const void *generator)
{
    return generator == protected[0] || generator == protected[1];
}

void sim_steps_begin(const void *generator)
{
    if (lab_current == NULL)
        return;
    sim_thread *t = sim_self();
    t->stepped = t->clock;
    if (is_protected(generator))
        watch_enters(t);
}

void sim_steps_end(const void *generator, uint64_t steps, bool mersenne)
{
    if (lab_current == NULL)
        return;
    sim_thread *t = sim_self();
    /* A step of mt19937 is mostly accesses, which have taken their time already. */
    sim_time all = steps * (mersenne ? sim_hardware.mersenne : sim_hardware.step);
    sim_time had = mersenne ? t->clock - t->stepped : 0;
    sim_compute(t, all > had ? all - had : 0);
    if (is_protected(generator)) {
        sim_compute(t, sim_private_section);
        watch_leaves(t);
    }
    watch_arrives(t);
}
