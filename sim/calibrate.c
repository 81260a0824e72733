/* calibrate.c - what takes time on this machine: something again and again, and between two of its CPUs */
#include "calibrate.h"

#include "../lab/machine.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { TRIES = 9 };

sim_time sim_best_of(void run(void), int times)
{
    double best = 1e18;
    for (int i = 0; i < TRIES; i++) {
        double from = now_ns();
        run();
        double took = (now_ns() - from) / times;
        best = took < best ? took : best;
    }
    return (sim_time)(best * 1000) + 1;
}

void sim_membarriers(void)
{
    for (int i = 0; i < SIM_MEMBARRIERS; i++)
        lab_raw_syscall(SYS_membarrier, (const long[6]){MEMBARRIER_CMD_PRIVATE_EXPEDITED});
}

/* ---- between two */

static _Atomic uint32_t ball;
static _Atomic uint32_t over;
static int players[2];

void sim_run_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sim_median(double *all, size_t count)
{
    qsort(all, count, sizeof all[0], by_size);
    return all[count / 2];
}

double sim_interruption;

/* Looks at the clock until the game is over: what takes longer than usual is an interrupt. */
static void be_interrupted(void)
{
    const double usual = 800;
    double last = now_ns(), all[64];
    size_t count = 0;
    for (atomic_store(&ball, 1); atomic_load_explicit(&over, memory_order_relaxed) == 0;) {
        double now = now_ns();
        if (now - last > usual)
            all[count++ % 64] = now - last;
        last = now;
    }
    count = count < 64 ? count : 64;
    sim_interruption = count > 0 ? sim_median(all, count) : 0;
}

static void *other_player(void *unused)
{
    (void)unused;
    sim_run_on(players[1]);
    be_interrupted();
    return NULL;
}

/* What a membarrier takes while another CPU is busy. */
sim_time sim_busy_membarrier(int first, int second)
{
    pthread_t other;
    players[0] = first;
    players[1] = second;
    atomic_store(&over, 0);
    atomic_store(&ball, 0);
    sim_run_on(players[0]);
    if (pthread_create(&other, NULL, other_player, NULL) != 0)
        return 0;
    while (atomic_load(&ball) == 0) /* it is not busy yet */
        ;
    double
        all[SIM_MEMBARRIERS]; /* the best would be of a moment in which the other thread had lost its CPU */
    for (int i = 0; i < SIM_MEMBARRIERS; i++) {
        double from = now_ns();
        lab_raw_syscall(SYS_membarrier, (const long[6]){MEMBARRIER_CMD_PRIVATE_EXPEDITED});
        all[i] = now_ns() - from;
    }
    atomic_store(&over, 1);
    pthread_join(other, NULL);
    return (sim_time)(sim_median(all, SIM_MEMBARRIERS) * 1000);
}
