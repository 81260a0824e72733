/* surroundings.c - reads the clocks and counters around a measurement */
#include "surroundings.h"
#include "ticks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t configs[BENCH_COUNTERS] = {
    [BENCH_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
    [BENCH_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
    [BENCH_CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
};

static int open_counter(uint64_t config)
{
    struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                                .size = sizeof a,
                                .config = config,
                                .inherit = 1,
                                .exclude_kernel = 1,
                                .exclude_hv = 1,
                                .read_format =
                                    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bench_counters bench_counters_open(void)
{
    bench_counters c;
    for (int i = 0; i < BENCH_COUNTERS; i++)
        c.fd[i] = open_counter(configs[i]);
    return c;
}

const char *bench_counters_missing(void)
{
    static char why[96];
    int fd = open_counter(configs[BENCH_CYCLES]);
    if (fd >= 0) {
        close(fd);
        return NULL;
    }
    snprintf(why, sizeof why, "perf_event_open: %s", strerror(errno));
    return why;
}

/* Scaled if the kernel had to share the counter; negative if it never ran. */
static double read_counter(int fd)
{
    struct {
        uint64_t value, enabled, running;
    } r;
    if (fd < 0 || read(fd, &r, sizeof r) != sizeof r || r.running == 0)
        return -1;
    return (double)r.value * ((double)r.enabled / (double)r.running);
}

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal, in clock ticks of all CPUs.
 * Steal is what other virtual machines took; iowait is idle. */
static double busy_ns(void)
{
    double user, nice_, system, idle, iowait, irq, softirq, steal;
    FILE *f = fopen("/proc/stat", "r");
    if (f == NULL)
        return -1;
    int found = fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice_, &system, &idle, &iowait, &irq,
                       &softirq, &steal);
    fclose(f);
    if (found != 8)
        return -1;
    return (user + nice_ + system + irq + softirq + steal) * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

bench_moment bench_moment_now(const bench_counters *counters, bench_events *events)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    bench_moment m = {.voluntary = (double)used.ru_nvcsw,
                      .involuntary = (double)used.ru_nivcsw,
                      .cpu_ns = (double)pawl_nanoseconds(CLOCK_PROCESS_CPUTIME_ID),
                      .busy_ns = busy_ns()};
    for (int i = 0; i < BENCH_COUNTERS; i++)
        m.counters[i] = read_counter(counters->fd[i]);
    for (int i = 0; i < PAWL_EVENTS; i++)
        m.events[i] = events != NULL ? (double)events((pawl_event)i) : -1;
    m.ns = (double)pawl_nanoseconds(CLOCK_MONOTONIC);
    m.ticks = (double)ticks();
    return m;
}

void bench_surroundings(bench_run *run, const bench_moment *from, const bench_moment *to)
{
    double ns = to->ns - from->ns, own = to->cpu_ns - from->cpu_ns;
    run->cpu_s = own / 1e9;
    run->voluntary_switches = to->voluntary - from->voluntary;
    run->involuntary_switches = to->involuntary - from->involuntary;
    for (int i = 0; i < BENCH_COUNTERS; i++)
        run->counters[i] =
            from->counters[i] < 0 || to->counters[i] < 0 ? -1 : to->counters[i] - from->counters[i];
    run->others_cpus = from->busy_ns < 0 || to->busy_ns < 0 ? -1 : (to->busy_ns - from->busy_ns - own) / ns;
}

double bench_step_ns(void)
{
    enum { STEPS = 20000, TRIES = 5 };
    double best = 1e9;
    generator g = generator_from(3);
    for (int i = 0; i < TRIES; i++) {
        uint64_t from = pawl_nanoseconds(CLOCK_MONOTONIC);
        generator_advance(&g, STEPS);
        __asm__ volatile("" ::"r"(g.s0), "r"(g.s1));
        double ns = (double)(pawl_nanoseconds(CLOCK_MONOTONIC) - from) / STEPS;
        best = ns < best ? ns : best;
    }
    return best;
}
