/* shared.h - the locks that processes share, as subjects beside the register's */
#pragma once

#include "scenarios.h"

#include "../src/region.h"

enum { CHECK_SHARED_COUNT = 2 };
extern const lock_info check_shared_locks[CHECK_SHARED_COUNT];
bool check_is_shared(const lock_info *lock);

extern const scenario check_shared_scenarios[];
extern const int check_shared_scenario_count;

/* In how many cases of the scenario a thread dies: in the first (`coin` is 1) at its first step, and so on. */
uint32_t check_deaths(const scenario *s);

/* On the host, before an exploration; from the program's setup. */
void check_shared_prepare(void);
void check_shared_name(void);

/* The thread that has this life is dead from now on. */
void check_life_dies(pawl_life *life);
