/* mutex_state.h - the memory that the scenarios of the mutexes and of pawl_cond work on */
#pragma once

#include "mutex_scenarios.h"

#include <pawl/cond.h>

typedef struct mutex_state {
    _Alignas(256) pawl_mutex mutex;
    _Alignas(256) pawl_fairmutex fair;
    _Alignas(256) pawl_cond cond;
    _Alignas(256) int data, entered[LAB_MAX_THREADS];
    int ready, references, promised_by;
} mutex_state;

extern mutex_state it;

/* A second after a thread's clock begins, or nobody would sleep; the lab decides when it has come. */
static const struct timespec soon = {.tv_sec = 2};

/* What scenarios end with. */
void mutex_count(void);
void mutex_is_free(void);
void fair_is_free(void);
void mutex_nothing(void);

void cond_signal(int id);
void cond_broadcast(int id);
void mutex_pass(int id);
void cond_timed(int id);
void cond_destroy(int id);
void cond_destroy_late(int id);
void cond_destroy_late_signal(int id);
void cond_destroy_signalled(int id);
void cond_fair_broadcast(int id);
void cond_fair_destroy(int id);
