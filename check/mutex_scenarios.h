/* mutex_scenarios.h - what pawl_mutex, pawl_fairmutex and pawl_cond do beyond other locks
 *
 * They bring their own memory. On the host, before an exploration: check_mutex_prepare(). From the program's
 * setup: check_mutex_name().
 */
#pragma once

#include "scenarios.h"

#define LAST_OF_THREE 3

extern const scenario check_mutex_scenarios[];
extern const int check_mutex_scenario_count;

void check_mutex_prepare(void);
void check_mutex_name(void);
