/* fuzz.h - random programs, run on the lab and judged by an independent axiomatic checker */
#pragma once
#include "lab.h"

enum { FUZZ_THREADS = 3, FUZZ_OPS = 4, FUZZ_LOCATIONS = 2, FUZZ_READS = 8 };

enum fuzz_kind { FUZZ_LOAD, FUZZ_STORE, FUZZ_SWAP, FUZZ_FENCE };

struct fuzz_op {
    enum fuzz_kind kind;
    int location, order;
    int value; /* written: tells the store among all of the program; 0 is the initial value */
    int slot;  /* of what a load or swap read in the outcome */
};

struct fuzz_program {
    int threads, count[FUZZ_THREADS];
    struct fuzz_op ops[FUZZ_THREADS][FUZZ_OPS];
};

/* What each read returned, then the final values; four bits each. */
typedef uint64_t fuzz_outcome;

struct fuzz_set {
    fuzz_outcome all[4096];
    int count;
};

void fuzz_add(struct fuzz_set *set, fuzz_outcome o);
bool fuzz_has(const struct fuzz_set *set, fuzz_outcome o);

/* fuzz.c, instrumented */
extern int fuzz_read[FUZZ_READS + FUZZ_LOCATIONS];
void fuzz_setup(void *program);
void fuzz_thread(void *program, int id);
void fuzz_final(void);

/* axiom.c: all outcomes that RC11 allows without load buffering; `strict` also has C11's rule that the order of
 * seq_cst operations agrees with happens-before, as the lab has. */
void axiom_outcomes(const struct fuzz_program *p, bool strict, struct fuzz_set *set);
