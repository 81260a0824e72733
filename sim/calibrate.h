/* calibrate.h - what takes time on this machine */
#pragma once

#include "machine.h"

/* The best of some tries, for each of so many. */
sim_time sim_best_of(void run(void), int times);

enum { SIM_MEMBARRIERS = 100 };
void sim_membarriers(void);

/* Nanoseconds from a thread on one CPU to one on another, by what it polls or sleeps on; negative if there is no second
 * thread. */
typedef enum sim_game { SIM_LINES, SIM_FUTEXES, SIM_BUSY } sim_game;
double sim_one_way(sim_game g, int first, int second);

/* What a membarrier takes while another CPU is busy; and how long that one is interrupted, in nanoseconds, 0 if it was not. */
sim_time sim_busy_membarrier(int first, int second);
extern double sim_interruption;
