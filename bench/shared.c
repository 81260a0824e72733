/* shared.c - the locks that processes share beside glibc's robust process-shared mutex
 *
 *   shared_bench [RUNS [MILLISECONDS]]
 *
 * An uncontended pair of lock and unlock in one process, in ns of CPU time, with the loop around it; and acquisitions of one lock by two processes, in
 * millions per second, with nothing between them and with some work outside. Medians of the runs, which take turns.
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

enum { KINDS = 3, WORKLOADS = 3, MOST_RUNS = 99 };

typedef struct board {
    _Alignas(128) pawl_mutex_shared mutex;
    _Alignas(128) pawl_hapax_shared hapax;
    _Alignas(128) pthread_mutex_t glibc;
    _Alignas(128) unsigned long inside; /* what they protect */
    _Alignas(128) _Atomic(int) ready, stop;
    double cpu_seconds; /* of one process alone */
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
} workloads[WORKLOADS] = {{1, 0}, {2, 0}, {2, 200}};

/* Acquisitions per second, of all processes together. */
static double run(int kind, int workload, int milliseconds)
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
        b->cpu_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - start;
        _exit(0);
    }
    while (atomic_load(&b->ready) < workloads[workload].processes)
        usleep(100);
    double start = now(CLOCK_MONOTONIC);
    usleep((useconds_t)milliseconds * 1000);
    atomic_store(&b->stop, 1);
    for (int i = 0; i < workloads[workload].processes; i++)
        waitpid(child[i], NULL, 0);
    double seconds = now(CLOCK_MONOTONIC) - start;
    return (double)b->inside / (workloads[workload].processes == 1 ? b->cpu_seconds : seconds);
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, c = *(const double *)y;
    return a < c ? -1 : a > c;
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

    static double results[KINDS][WORKLOADS][MOST_RUNS];
    for (int i = 0; i < runs; i++)
        for (int w = 0; w < WORKLOADS; w++)
            for (int k = 0; k < KINDS; k++)
                results[k][w][i] = run(k, w, milliseconds);
    printf("%-16s %12s %22s %22s\n", "", "pair, ns", "2 processes, M/s", "with work, M/s");
    for (int k = 0; k < KINDS; k++) {
        for (int w = 0; w < WORKLOADS; w++)
            qsort(results[k][w], (size_t)runs, sizeof(double), compare);
        printf("%-16s %12.1f %22.2f %22.2f\n", kinds[k].name, 1e9 / results[k][0][runs / 2],
               results[k][1][runs / 2] / 1e6, results[k][2][runs / 2] / 1e6);
    }
    return 0;
}
