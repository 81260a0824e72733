/* mutex_scenarios.h - scenarios of pawl_mutex, pawl_fairmutex and pawl_cond
 *
 * They bring their own memory. Before an exploration, on the host: check_mutex_prepare(); from the program's
 * setup: check_mutex_name().
 */
#pragma once

#include "scenarios.h"

#define LAST_OF_THREE 3

extern const scenario check_mutex_scenarios[];
extern const int check_mutex_scenario_count;

/* With the sleeper's barrier or, as where the kernel refuses it, with a fence in each release. */
void check_mutex_prepare(bool membarrier);
void check_mutex_name(void);
