/* surroundings.c - bench/surroundings.h, bench/beside.h and bench/ticks.h on the simulated machine */
#include "kernel.h"
#include "sim.h"
#include "watch.h"

#include "../bench/surroundings.h"
#include "../bench/ticks.h"

uint64_t sim_ticks(void);

bench_counters bench_counters_open(const bench_beside *beside)
{
    return (bench_counters){.fd = {-1, -1, -1}, .migrations = -1, .beside = beside};
}

const char *bench_counters_missing(void)
{
    return "the machine is simulated; --json has its cache misses";
}

/* Statistics start at the first of the two moments that a run looks at, and end at the second. */
bench_moment bench_moment_now(const bench_counters *counters, bench_events *events)
{
    static bool started;
    (void)counters, (void)events;
    (started ? watch_stop : watch_start)();
    started = true;
    sim_time own, beside;
    sim_cpu_times(&own, &beside);
    bench_moment m = {.ns = (double)sim_now() / SIM_NS,
                      .ticks = (double)sim_ticks(),
                      .cpu_ns = (double)own / SIM_NS,
                      .voluntary = (double)watch_switches.voluntary,
                      .involuntary = (double)watch_switches.involuntary,
                      .migrations = (double)watch_switches.migrations,
                      .busy_ns = (double)(own + beside) / SIM_NS,
                      .beside_ns = (double)beside / SIM_NS,
                      .counters = {-1, -1, -1}};
    for (int i = 0; i < PAWL_EVENTS; i++)
        m.events[i] = (double)kernel_calls[i];
    return m;
}

void bench_surroundings(bench_run *run, const bench_moment *from, const bench_moment *to)
{
    run->cpu_s = (to->cpu_ns - from->cpu_ns) / 1e9;
    run->voluntary_switches = to->voluntary - from->voluntary;
    run->involuntary_switches = to->involuntary - from->involuntary;
    run->migrations = to->migrations - from->migrations;
    run->others_cpus = 0;
    for (int i = 0; i < BENCH_COUNTERS; i++)
        run->counters[i] = -1;
}

double bench_step_ns(void)
{
    return (double)sim_hardware.step / SIM_NS;
}

double bench_ticks_per_ns(void)
{
    return (double)SIM_NS / SIM_TICK;
}

int bench_beside_start(bench_beside *b, unsigned threads)
{
    *b = (bench_beside){0};
    for (unsigned i = 0; i < threads; i++)
        sim_beside_new(sim_machine_scatter(&sim_hardware, i % sim_machine_cpus(&sim_hardware)));
    return 0;
}

int bench_beside_stop(bench_beside *b)
{
    (void)b;
    return 0;
}
