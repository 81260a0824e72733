/* beside.c - the load that a measurement asks for: it runs, is not taken for other programs, and ends */
#include "harness.h"

#include "bench/loops.h"
#include "bench/team.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void until_it_has_had(const bench_beside *b, double ns)
{
    while (bench_beside_ns(b) < ns)
        usleep(1000);
}

static void a_load_is_busy_until_it_is_stopped(const lock_info *lock)
{
    (void)lock;
    bench_beside b;
    CHECK(bench_beside_start(&b, 2) == 0 && b.process > 0, "it did not start");
    until_it_has_had(&b, 1e6);
    pid_t process = b.process;
    int error = bench_beside_stop(&b);
    CHECK(error == 0, "%s", strerror(error));
    CHECK(kill(process, 0) < 0 && errno == ESRCH, "it goes on");
    CHECK(bench_beside_start(&b, 0) == 0 && b.process == 0 && bench_beside_ns(&b) == 0, "none is one");
    CHECK(bench_beside_stop(&b) == 0, "and cannot be stopped");
}

/* Somebody else, or the machine, may end it. */
static void a_load_that_ended_early_is_an_error(const lock_info *lock)
{
    (void)lock;
    bench_beside b;
    CHECK(bench_beside_start(&b, 1) == 0, "it did not start");
    until_it_has_had(&b, 1e5);
    siginfo_t ended;
    kill(b.process, SIGTERM);
    CHECK(waitid(P_PID, (id_t)b.process, &ended, WEXITED | WNOWAIT) == 0, "waitid: %s", strerror(errno));
    CHECK(bench_beside_stop(&b) != 0, "nobody noticed");
}

/* Two CPUs' worth of a second, of which this process had half of one, and the load one. */
static void a_load_is_told_from_other_programs(const lock_info *lock)
{
    (void)lock;
    const bench_moment from = {.ns = 1e9, .cpu_ns = 1e9, .busy_ns = 1e9, .beside_ns = 1e9};
    bench_moment to = {.ns = 2e9, .cpu_ns = 1.5e9, .busy_ns = 3e9, .beside_ns = 2e9};
    bench_run run;
    bench_surroundings(&run, &from, &to);
    CHECK(run.others_cpus == 0.5, "%g", run.others_cpus);
    to.busy_ns = -1;
    bench_surroundings(&run, &from, &to);
    CHECK(run.others_cpus == -1, "%g, of what nobody knows", run.others_cpus);
}

static void bind_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0, "CPU %d: %s", cpu, strerror(errno));
}

static int cpus[2];

/* An "acquisition" is a way to the other CPU and back. */
static void wander(bench_worker *w)
{
    uint64_t count = 0;
    while (bench_phase_now(w->shared) != BENCH_STOP) {
        bind_to(cpus[1]);
        bind_to(cpus[0]);
        bench_counted(w, ++count);
    }
}

static bench_duty wander_of(const bench_request *q, unsigned index)
{
    (void)q, (void)index;
    return wander;
}

static bench_run run_wandering(unsigned beside, uint64_t duration_ns)
{
    bench_request q = {.threads = 1, .beside = beside, .duration_ns = duration_ns, .warm_up_ns = 1000000};
    bench_team *t = bench_team_new(&q);
    bench_run run;
    CHECK(t != NULL, "no memory");
    int error = bench_team_run(t, &q, wander_of, &run);
    CHECK(error == 0, "%s", strerror(error));
    return run;
}

static void find_two_cpus(void)
{
    cpu_set_t set;
    int found = 0;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity: %s", strerror(errno));
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &set))
            cpus[found++] = cpu;
    if (found < 2)
        skip("takes two CPUs");
}

/* Or no number at all, if the kernel does not tell. The counts and the kernel's numbers are not of the same instant. */
static void migrations_are_counted(const lock_info *lock)
{
    (void)lock;
    find_two_cpus();
    bench_run run;
    uint64_t duration_ns = 50000000; /* on a busy machine each way takes a while */
    do
        run = run_wandering(1, duration_ns);
    while (run.acquisitions < 10 && (duration_ns *= 2) != 0);
    CHECK(run.migrations == -1 || run.migrations >= run.acquisitions, "%g migrations in %g ways and back",
          run.migrations, run.acquisitions);
}

static const promise promises[] = {
    {"a_load_is_busy_until_it_is_stopped", a_load_is_busy_until_it_is_stopped, NULL, "beside"},
    {"a_load_that_ended_early_is_an_error", a_load_that_ended_early_is_an_error, NULL, "beside"},
    {"a_load_is_told_from_other_programs", a_load_is_told_from_other_programs, NULL, "beside"},
    {"migrations_are_counted", migrations_are_counted, NULL, "beside"},
};

HARNESS_MAIN(promises)
