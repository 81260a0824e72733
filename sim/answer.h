/* answer.h - which machine bench_ask() simulates */
#pragma once

#include "machine.h"

extern sim_machine sim_chosen;
extern uint64_t sim_chosen_seed;
extern const char *sim_chosen_trace; /* where the timeline of a run goes, or NULL */

/* Time that a critical section takes besides its steps, without touching memory (platform.c). */
extern sim_time sim_private_section;
