/* mutate.h - weakens one memory order at a time and expects a violation */
#pragma once

#include "run.h"

typedef struct mutation {
    char site[256]; /* where, innermost inlined frame first: "wait.h:81<ticket.h:34" */
    enum lab_op op;
    enum lab_role role;
    int from, to; /* __ATOMIC_... */
    bool killed;
    enum lab_verdict verdict; /* that killed it */
    char by[64];              /* the case that did */
    uint64_t executions;
    double seconds;
} mutation;

typedef void mutation_sink(const lock_info *lock, const mutation *m, void *arg);

/* Tries every weakening of every order in the lock's code (NULL: the semaphore's), and tells `sink` the outcome of
 * each. Returns how many survived. */
int check_mutate(const lock_info *lock, const check_options *o, mutation_sink *sink, void *arg);

const char *check_order_name(int order);
const char *check_op_name(enum lab_op op, enum lab_role role);
