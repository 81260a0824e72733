/* mutex_scenarios.h - scenarios of pawl_mutex, pawl_fairmutex and pawl_cond
 *
 * They bring their own memory. On the host, before an exploration: check_mutex_prepare(). From the program's
 * setup: check_mutex_name(). The platoon is the number of releases in a round.
 */
#pragma once

#include "scenarios.h"

#define LAST_OF_THREE 3

extern const scenario check_mutex_scenarios[];
extern const int check_mutex_scenario_count;

void check_mutex_prepare(void);
void check_mutex_name(void);

/* For the lab's `bypass_total`: how often a waiter may be overtaken in this scenario, -1 if that is not the point. */
int check_mutex_bypass(const scenario *s, uint32_t platoon);
