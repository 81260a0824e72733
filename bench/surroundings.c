/* surroundings.c - reads the clocks and counters around a measurement */
#include "surroundings.h"
#include "ticks.h"

#include <dirent.h>
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

static int open_counter(uint32_t type, uint64_t config)
{
    struct perf_event_attr a = {.type = type,
                                .size = sizeof a,
                                .config = config,
                                .inherit = 1,
                                .exclude_kernel = type == PERF_TYPE_HARDWARE, /* where threads migrate */
                                .exclude_hv = 1,
                                .read_format =
                                    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bench_counters bench_counters_open(const bench_beside *beside)
{
    bench_counters c = {.beside = beside,
                        .migrations = open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS)};
    for (int i = 0; i < BENCH_COUNTERS; i++)
        c.fd[i] = open_counter(PERF_TYPE_HARDWARE, configs[i]);
    return c;
}

const char *bench_counters_missing(void)
{
    static char why[96];
    int fd = open_counter(PERF_TYPE_HARDWARE, configs[BENCH_CYCLES]);
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

/* From a thread's /proc/.../sched, which has "se.nr_migrations : 3" where the kernel was built with it; or -1. */
static double migrations_in(const char *path)
{
    char line[128];
    double found = -1;
    FILE *f = fopen(path, "re");
    while (f != NULL && found < 0 && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "se.nr_migrations : %lf", &found) != 1)
            found = -1;
    if (f != NULL)
        fclose(f);
    return found;
}

/* Of all threads that there are. */
static double migrations_of_threads(void)
{
    double all = -1;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    while (tasks != NULL && (task = readdir(tasks)) != NULL) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%.20s/sched", task->d_name);
        double found = task->d_name[0] != '.' ? migrations_in(path) : -1;
        if (found >= 0)
            all = (all > 0 ? all : 0) + found;
    }
    if (tasks != NULL)
        closedir(tasks);
    return all;
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
    /* First, as it takes longest. */
    double migrations =
        counters->migrations >= 0 ? read_counter(counters->migrations) : migrations_of_threads();
    getrusage(RUSAGE_SELF, &used);
    bench_moment m = {.migrations = migrations,
                      .beside_ns = bench_beside_ns(counters->beside),
                      .voluntary = (double)used.ru_nvcsw,
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

/* Negative if one of them is not known. */
static double difference(double from, double to)
{
    return from < 0 || to < 0 ? -1 : to - from;
}

void bench_surroundings(bench_run *run, const bench_moment *from, const bench_moment *to)
{
    double ns = to->ns - from->ns, own = to->cpu_ns - from->cpu_ns;
    run->cpu_s = own / 1e9;
    run->voluntary_switches = to->voluntary - from->voluntary;
    run->involuntary_switches = to->involuntary - from->involuntary;
    for (int i = 0; i < BENCH_COUNTERS; i++)
        run->counters[i] = difference(from->counters[i], to->counters[i]);
    run->migrations = difference(from->migrations, to->migrations);
    double busy = difference(from->busy_ns, to->busy_ns), asked = to->beside_ns - from->beside_ns;
    run->others_cpus = busy < 0 ? -1 : (busy - own - asked) / ns;
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
