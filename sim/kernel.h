/* kernel.h - what the parts of the simulated kernel share */
#pragma once

#include "sim.h"

#include "../src/park/events.h"

#include <time.h>

void kernel_boot(void);

/* System calls since the start of the machine, of every lock: libpawl counts only its own. */
extern uint64_t kernel_calls[PAWL_EVENTS];

/* Sets errno; returns -1. */
long kernel_fail(int error);

/* The virtual time at which a clock shows this, and how long that is. */
sim_time kernel_moment(const struct timespec *ts);
sim_time kernel_span(const struct timespec *ts);

/* futex.c: what every call costs; and sleeping until somebody wakes the thread, or that time comes. */
void kernel_enter(sim_thread *t);
void kernel_sleep(sim_thread *t, sim_time until);
long kernel_futex(const long *arguments);
