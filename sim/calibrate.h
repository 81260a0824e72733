/* calibrate.h - what takes time on this machine */
#pragma once

#include "machine.h"

#include <stdbool.h>

void sim_run_on(int cpu);

/* Also sorts them. */
double sim_median(double *all, size_t count);

/* The best of some tries, for each of so many. */
sim_time sim_best_of(void run(void), int times);

enum { SIM_MEMBARRIERS = 100 };
void sim_membarriers(void);

/* Nanoseconds, and what a line that another CPU has changed makes of a read. */
typedef struct sim_line_times {
    double read, write, upgrade;
    double more;     /* for each line that is asked for together with another one */
    bool read_moves; /* the line to the reader, who may write then                */
} sim_line_times;

/* calibrate_lines.c: between two CPUs; false if there is no second thread. */
bool sim_lines(int first, int second, double atomic_ns, sim_line_times *times);

/* What a membarrier takes while another CPU is busy; and how long that one is interrupted, in nanoseconds, 0 if it was not. */
sim_time sim_busy_membarrier(int first, int second);
extern double sim_interruption;

/* calibrate_kernel.c: of the scheduler and of the hypervisor, in nanoseconds, each by something that does nothing else.
 * Negative if there is no second thread. */
double sim_yield_in_turn(int cpu);              /* with another thread of the CPU          */
double sim_sleep_in_turn(int cpu);              /* one wakes the other, and sleeps         */
double sim_wake_other(int first, int second);   /* the waker's call                    */
double sim_wake_in_turn(int first, int second); /* until the other runs; then it sleeps */
double sim_stay(int first, int second);         /* the share that stays where it slept, beside an idle CPU */
double sim_timer_lateness(int cpu);
double sim_pull(int first, int second); /* until an idle CPU takes a thread that waits for another one */
void sim_gaps(int cpu, double *length, double *apart); /* 0 if there are none */
