/* litmus.h - small programs with known answers, which check the checker */
#pragma once
#include "lab.h"

enum expectation { ALLOWED, FORBIDDEN, VERDICT };

struct litmus {
    const char *name;
    int threads;
    void (*body)(void *unused, int id);
    enum expectation expect;
    int outcome[4];           /* ALLOWED, FORBIDDEN: values of r */
    enum lab_verdict verdict; /* VERDICT; the others must end in LAB_OK */
    int inserts, spurious;
};

extern const struct litmus litmus[];
extern const int litmus_count;

enum { UNSET = -1 };
extern int r[4]; /* what the threads of a litmus program observed; UNSET where nothing was */
void litmus_setup(void *unused);
void litmus_final(void);
