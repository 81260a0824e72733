/* slots.h - the waiting arrays that all locks of a process share
 *
 * Hapax, TWA and the semaphore let a waiter watch a slot chosen by a hash instead of the lock, so that
 * waiters disturb one another only when their hashes collide.
 */
#pragma once

#include "atomic.h"

/* A power of two, the same as in the library (meson -Dslots=N). Tests build with one or two slots, so that everything
 * collides. */
#ifndef PAWL_SLOTS
#define PAWL_SLOTS 4096
#endif

/* How much of the array is used; the lab makes it a variable. */
#ifndef PAWL_IN_LAB
#ifdef PAWL_SLOT_MASK
#error "PAWL_SLOT_MASK follows from PAWL_SLOTS"
#endif
#define PAWL_SLOT_MASK (PAWL_SLOTS - 1)
#endif

typedef struct pawl_slot {
    pawl_word visible; /* hapax_vw, hapax_vw2: the hapax that the registered waiter waits for, or 0 */
    pawl_word notify;  /* hapax, hapax_vw2, twa_hapax: the last hapax that departed through this slot */
} pawl_slot;

#ifdef __cplusplus
extern "C" {
#endif

extern pawl_slot pawl_slots[PAWL_SLOTS] PAWL_BUILT_WITH(pawl_slots, PAWL_SLOTS);
/* Counters; a change tells waiters to look at the lock again. */
extern pawl_word pawl_twa_slots[PAWL_SLOTS] PAWL_BUILT_WITH(pawl_twa_slots, PAWL_SLOTS);

#ifdef __cplusplus
}
#endif

/* 17 is odd, so consecutive blocks or tickets visit every slot before one repeats, and large enough to put neighbours
 * on different cache lines. The lock's address keeps apart two locks that move in step. */
static inline pawl_slot *pawl_slot_of(const void *lock, uint64_t hapax)
{
    uint32_t salt = (uint32_t)(uintptr_t)lock;
    return &pawl_slots[(salt + (uint32_t)(hapax >> 16)) * 17 & PAWL_SLOT_MASK];
}

static inline pawl_word *pawl_twa_slot_of(const void *lock, uint64_t ticket)
{
    uint32_t salt = (uint32_t)(uintptr_t)lock;
    return &pawl_twa_slots[(salt + (uint32_t)ticket * 17) & PAWL_SLOT_MASK];
}
