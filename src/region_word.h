/* region_word.h - the word of a shared lock that excludes; its states are in <pawl/shared.h> */
#pragma once

#include "region.h"

#ifdef PAWL_HAS_REGIONS

enum {
    WAITERS = 1 << PAWL_SEAT_BITS,
    HANDOFF = WAITERS << 1,
    RESERVED = WAITERS << 2,
    DIED = WAITERS << 3,
    FLAGS = WAITERS | HANDOFF | RESERVED | DIED,
    BROKEN = DIED, /* and nobody's */
};

static inline uint32_t token_in(uint32_t owner)
{
    return owner & ~(uint32_t)FLAGS;
}

/* What `owner` becomes if I take it; 0 if I may not. */
static inline uint32_t as_mine(uint32_t owner, uint32_t me)
{
    if (owner == 0)
        return me;
    return (owner & RESERVED) && token_in(owner) == me ? owner & ~(uint32_t)RESERVED : 0;
}

static inline bool take(pawl_robust *l, uint32_t from, uint32_t to)
{
    bool taken =
        atomic_compare_exchange_strong_explicit(&l->owner, &from, to, memory_order_acquire,
                                                memory_order_relaxed); /* A: sees all the last owner wrote */
    PAWL_REGION_STEP("lock: tried the word");
    return taken;
}

/* From a dead owner. True if it is mine now. */
static inline bool inherit(pawl_region *r, pawl_robust *l, uint32_t owner, uint32_t me)
{
    if (token_in(owner) == 0 || !pawl_seat_is_dead(r, owner))
        return false;
    PAWL_REGION_STEP("lock: knows of a death");
    uint32_t rest = owner & (WAITERS | HANDOFF);
    return take(l, owner, me | rest | (owner & RESERVED ? 0 : DIED));
}

/* ---- region_line.c: the line before it */

/* Waits in line for the word. 0 or ENOTRECOVERABLE. */
int pawl_line_lock(pawl_region *r, pawl_robust *l, uint32_t me);
/* Forgets the last in line if it is dead. */
void pawl_line_forget_dead(pawl_region *r, pawl_robust *l);

#endif
