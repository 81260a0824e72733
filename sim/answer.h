/* answer.h - which machine bench_ask() simulates */
#pragma once

#include "machine.h"

extern sim_machine sim_chosen;
extern uint64_t sim_chosen_seed;
