/* awkward.h - what the parts of awkward.c share */
#pragma once

#include "asleep.h"

#include "preload/stats/table.h"

#include <pthread.h>
#include <stdbool.h>

enum { TRIES = 5 };

extern pthread_mutex_t mutex;
extern pid_t waiter; /* stored by a thread that is about to wait */

struct timespec in_ms(long ms);
void await_waiter(void);
void join_one(void *(*function)(void *));
void use(pthread_mutex_t *m, int times);
void try_in_vain(void);

/* What the tables have. */
const stats_row *row_of(const void *lock);
uint32_t waiting_for(const void *lock);
void await_wait_for(const void *lock);

/* ---- awkward_waits.c */

void be_late(void);
void hold_suddenly(void);
void leave_an_orphan(bool stays, bool only);
void inherit(void);
void wait_in_slices(void);
void wait_in_slices_in_vain(void);
void wake_and_keep(void);
void wake_c11(void);
void bury(int number);

/* ---- awkward_counts.c */

void reuse(void);
void hold(void);
void acquire_step_by_step(int times);
void use_quiet(bool stays);
void load_all(char **paths);
void load_later(char **argv);
void try_for_nothing(void);
void be_refused_once(void);
void try_many(int size);
void try_checked(void);
void leave_a_stray(void);
void use_kinds(void);
