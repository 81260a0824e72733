/* steps.h - the steps of the programs that debug mode judges
 *
 * Reports name the functions that a program was in, so none of these may be inlined: they are in another file
 * than their callers, or NAMED.
 */
#pragma once

#include "cases.h"

#include <stdlib.h>

#define NAMED __attribute__((noinline)) static

/* Different in each function: a compiler may merge two functions that are the same. */
#define END __asm__ volatile("# %0" : : "i"(__LINE__))

typedef struct debug_case {
    const char *name;
    void (*run)(void);
} debug_case;

/* One table for each file. */
extern const debug_case any_cases[], mutex_cases[], process_cases[];

/* The lock that was asked for, three times. */
enum { A, B, C, LOCKS };
extern const lock_info *kind;
extern lock_memory memory[LOCKS];
extern lock_ctx context[LOCKS];

void take(int i);
void drop(int i);
void end(int i);
void in_thread(void *(*function)(void *));

void takes_first(void);
void unlocks_first(void);
void takes_a_then_b(void);
void takes_b_then_a(void);
void takes_b_then_c(void);
void takes_c_then_a(void);

/* A thread: A, then B, many times. */
void *some_pairs(void *unused);
