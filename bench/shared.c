/* shared.c - the locks that processes share beside glibc's robust process-shared mutex
 *
 *   shared_bench [RUNS [MILLISECONDS]]
 *
 * Acquisitions of one lock by one and by two processes, with nothing between them and with some work outside: millions per
 * second of time, and the CPU time of each in ns, with the loop around it. Medians of the runs, which take turns.
 */
#include <pawl/shared.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 3, WORKLOADS = 5, MOST_RUNS = 99 };

typedef struct board {
    _Alignas(128) pawl_mutex_shared mutex;
    _Alignas(128) pawl_hapax_shared hapax;
    _Alignas(128) pthread_mutex_t glibc;
    _Alignas(128) unsigned long inside; /* what they protect */
    _Alignas(128) _Atomic(int) ready, stop;
    double cpu_seconds[2]; /* of each process */
} board;

static pawl_region *region;
static board *b;

static double now(int clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work(unsigned steps)
{
    for (volatile unsigned i = 0; i < steps; i++)
        ;
}

#define LOOP(name, lock, unlock)                                                                             \
    static void name(unsigned steps)                                                                         \
    {                                                                                                        \
        while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {                                      \
            if (lock != 0)                                                                                   \
                abort();                                                                                     \
            b->inside++;                                                                                     \
            unlock;                                                                                          \
            work(steps);                                                                                     \
        }                                                                                                    \
    }

LOOP(loop_mutex, pawl_mutex_shared_lock(region, &b->mutex), pawl_mutex_shared_unlock(region, &b->mutex))
LOOP(loop_hapax, pawl_hapax_shared_lock(region, &b->hapax), pawl_hapax_shared_unlock(region, &b->hapax))
LOOP(loop_glibc, pthread_mutex_lock(&b->glibc), pthread_mutex_unlock(&b->glibc))

static const struct {
    const char *name;
    void (*loop)(unsigned steps);
} kinds[KINDS] = {{"mutex_shared", loop_mutex}, {"hapax_shared", loop_hapax}, {"glibc, robust", loop_glibc}};

static const struct {
    int processes;
    unsigned steps;
} workloads[WORKLOADS] = {{1, 0}, {2, 0}, {1, 200}, {2, 200}, {2, 2000}};

typedef struct result {
    double rate;   /* acquisitions per second, of all processes together */
    double cpu_ns; /* of each acquisition                                */
} result;

static result run(int kind, int workload, int milliseconds)
{
    pid_t child[2];
    b->inside = 0;
    atomic_store(&b->stop, 0);
    atomic_store(&b->ready, 0);
    for (int i = 0; i < workloads[workload].processes; i++) {
        child[i] = fork();
        if (child[i] != 0)
            continue;
        atomic_fetch_add(&b->ready, 1);
        while (atomic_load(&b->ready) < workloads[workload].processes)
            ;
        double start = now(CLOCK_PROCESS_CPUTIME_ID);
        kinds[kind].loop(workloads[workload].steps);
        b->cpu_seconds[i] = now(CLOCK_PROCESS_CPUTIME_ID) - start;
        _exit(0);
    }
    while (atomic_load(&b->ready) < workloads[workload].processes)
        usleep(100);
    double start = now(CLOCK_MONOTONIC), cpu = 0;
    usleep((useconds_t)milliseconds * 1000);
    atomic_store(&b->stop, 1);
    double seconds = now(CLOCK_MONOTONIC) - start;
    for (int i = 0; i < workloads[workload].processes; i++) {
        waitpid(child[i], NULL, 0);
        cpu += b->cpu_seconds[i];
    }
    return (result){(double)b->inside / seconds, 1e9 * cpu / (double)b->inside};
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, c = *(const double *)y;
    return a < c ? -1 : a > c;
}

static double median(const result *results, int runs, size_t field)
{
    double values[MOST_RUNS];
    for (int i = 0; i < runs; i++)
        values[i] = *(const double *)((const char *)&results[i] + field);
    qsort(values, (size_t)runs, sizeof(double), compare);
    return values[runs / 2];
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 7, milliseconds = argc > 2 ? atoi(argv[2]) : 300;
    if (argc > 3 || runs < 1 || runs > MOST_RUNS || milliseconds < 1) {
        fprintf(stderr, "usage: shared_bench [RUNS [MILLISECONDS]], 1 to %d runs\n", MOST_RUNS);
        return 2;
    }
    int error = pawl_region_create(&region, memfd_create("bench", 0), sizeof *b);
    if (error != 0) {
        fprintf(stderr, "shared_bench: %s\n", pawl_region_error(error));
        return 1;
    }
    b = pawl_region_memory(region);
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&b->glibc, &robust);

    static result results[WORKLOADS][KINDS][MOST_RUNS];
    for (int i = 0; i < runs; i++)
        for (int w = 0; w < WORKLOADS; w++)
            for (int k = 0; k < KINDS; k++)
                results[w][k][i] = run(k, w, milliseconds);
    printf("processes  steps outside  lock               M/s  CPU ns each\n");
    for (int w = 0; w < WORKLOADS; w++)
        for (int k = 0; k < KINDS; k++)
            printf("%9d  %13u  %-15s %6.2f  %11.1f\n", workloads[w].processes, workloads[w].steps,
                   kinds[k].name, median(results[w][k], runs, offsetof(result, rate)) / 1e6,
                   median(results[w][k], runs, offsetof(result, cpu_ns)));
    return 0;
}
