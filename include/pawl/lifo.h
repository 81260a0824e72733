/* lifo.h - last in, first out (the adversary of the capacitor paper)
 *
 * Admission   LIFO: of those that wait, the latest arrival enters next
 * Bypass      unbounded
 * Space       1 word per lock, 2 words per thread: its element
 * Unlock      by any thread, not in constant time: an arrival can make it try again; does not touch the lock
 *             after the hand-off
 * Waiting     local: each waiter watches its own element
 * Sharing     by threads of one process
 * Differs     the paper names the lock but does not print it. Only the owner takes elements off the stack, so none
 *             can leave and return between its load and its CAS
 *
 *   0   unlocked
 *   1   held, nobody waits
 *   E   held; E is the latest waiter, E->next the one before it, or 1
 */
#pragma once

#include "detail/base.h"
#include "detail/element.h"

#define PAWL_LIFO_HELD 1u

typedef struct pawl_lifo {
    pawl_word top;
} pawl_lifo;

typedef pawl_no_ctx pawl_lifo_ctx;

static inline bool pawl_lifo_try_acquire(pawl_lifo *l, pawl_lifo_ctx *c)
{
    (void)c;
    return pawl_cas_acquire(&l->top, 0, PAWL_LIFO_HELD); /* A: sees all the last owner wrote */
}

static inline void pawl_lifo_acquire(pawl_lifo *l, pawl_lifo_ctx *c)
{
    if (PAWL_LIKELY(pawl_lifo_try_acquire(l, c)))
        return;
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t top = atomic_load_explicit(&l->top, memory_order_relaxed);
    for (;;) {
        if (top == 0) {
            if (atomic_compare_exchange_weak_explicit(&l->top, &top, PAWL_LIFO_HELD, memory_order_acquire,
                                                      memory_order_relaxed)) /* A */
                return;
            continue;
        }
        atomic_store_explicit(&mine->next, top, memory_order_relaxed);
        /* B: publishes gate and next to the owner that takes the element off */
        if (atomic_compare_exchange_weak_explicit(&l->top, &top, pawl_address(mine), memory_order_release,
                                                  memory_order_relaxed))
            break;
    }
    pawl_wait_while_eq(&mine->gate, 0); /* C: sees all the last owner wrote */
}

static inline void pawl_lifo_release(pawl_lifo *l, pawl_lifo_ctx *c)
{
    (void)c;
    uint64_t top = PAWL_LIFO_HELD;
    /* A: publishes the critical section to an arrival that finds the lock free */
    while (!atomic_compare_exchange_weak_explicit(
        &l->top, &top,
        top == PAWL_LIFO_HELD ? 0 : atomic_load_explicit(&((pawl_element *)top)->next, memory_order_relaxed),
        memory_order_release, memory_order_acquire)) /* B: the element's fields are there */
        ;
    if (top != PAWL_LIFO_HELD)
        pawl_post(&((pawl_element *)top)->gate, 1); /* C: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(lifo, PAWL_HOW_OBLIVIOUS)
