/* mutants.h - locks that are wrong on purpose
 *
 * Each differs from a registered lock in one place, the kind of place where people go wrong. The checker must
 * catch every one of them; a mutant that survives shows what the checker cannot see.
 */
#pragma once

#include "../../check/scenarios.h"

typedef struct mutant {
    const char *name;
    const char *base;                     /* the registered lock it was made from              */
    const char *wrong;                    /* what was done to it                               */
    void (*lock)(void *l, lock_ctx *c);   /* NULL: the base's                                  */
    void (*unlock)(void *l, lock_ctx *c); /* NULL: the base's                                  */
    unsigned verdicts;                    /* those that count as caught, a bit each            */
    bool claims_prompt;                   /* says that it survives prompt destruction          */
    uint32_t slots;                       /* that make it show; 0: any                         */
} mutant;

#define CAUGHT(verdict) (1u << (verdict))

extern const mutant hapax_mutants[], hemlock_mutants[], reciprocating_mutants[], queue_mutants[],
    capacitor_mutants[]; /* each ends with an empty name */

bool seqlock_as_printed_is_caught(void);
