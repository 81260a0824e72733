/* choice.h - the choices of an execution: recorded, followed, varied */
#pragma once
#include "model.h"

void lab_choices_reset(void);      /* a new exploration */
void lab_choices_begin(void);      /* a new execution: follows what is recorded, then extends it */
bool lab_choices_next(void);       /* LAB_EXHAUSTIVE: changes the last choice that can be; false when none is left */
void lab_choices_drop(void);       /* LAB_RANDOM: forgets the last execution's */

/* Text that brings back the recorded choices and the bounds they were made under. */
const char *lab_replay_text(const struct lab_limits *limits);
bool lab_replay_parse(const char *text, struct lab_limits *limits);

/* random.c */
void lab_random_reset(uint64_t seed, int change_points);
void lab_random_begin(uint64_t execution, unsigned longest);
unsigned lab_random_choose(enum lab_choice kind, unsigned count);
unsigned lab_random_thread(struct lab_thread *const *options, unsigned count);
