/* toy.h - a lock for run.sh, with state of its own in each thread: lifo.h, which counts how often each thread took it
 *
 * Admission   LIFO: of those that wait, the latest arrival enters next
 * Bypass      unbounded
 * Space       1 word per lock, 4 per thread
 * Unlock      by any thread, not in constant time: an arrival can make it try again; does not touch the lock after the
 *             hand-over
 * Waiting     local: each waiter watches its own word
 * Sharing     by threads of one process
 * Differs     nothing
 */
#pragma once

#include "detail/base.h"

#define PAWL_TOY_HELD 1u

typedef struct pawl_toy {
    pawl_word top;
} pawl_toy;

typedef pawl_no_ctx pawl_toy_ctx;

typedef struct pawl_toy_waiter {
    pawl_word gate, next;
} pawl_toy_waiter;

PAWL_SHARED_SLICE(toy_waiter, pawl_toy_waiter, .child = PAWL_KEPT);

typedef struct pawl_toy_count {
    uint64_t taken;
    bool entered;
} pawl_toy_count;

static inline void pawl_toy_leave(void);

PAWL_SLICE(toy_count, pawl_toy_count, .leave = pawl_toy_leave, .child = PAWL_ZEROED);

/* By all threads that have ended. */
__attribute__((weak)) pawl_word pawl_toy_total;

static inline void pawl_toy_leave(void)
{
    atomic_fetch_add_explicit(&pawl_toy_total, pawl_toy_count_self.taken, memory_order_relaxed);
    pawl_toy_count_self.taken = 0;
    pawl_toy_count_self.entered = false;
}

static inline bool pawl_toy_try(pawl_toy *l)
{
    return pawl_cas_acquire(&l->top, 0, PAWL_TOY_HELD); /* A: sees all the last owner wrote */
}

/* Before the lock is taken: it may be the allocator's. */
static inline void pawl_toy_enter(void)
{
    if (!pawl_toy_count_self.entered)
        pawl_toy_count_self.entered = pawl_thread_enter();
}

static inline bool pawl_toy_try_acquire(pawl_toy *l, pawl_toy_ctx *c)
{
    (void)c;
    pawl_toy_enter();
    if (!pawl_toy_try(l))
        return false;
    pawl_toy_count_self.taken++;
    return true;
}

static inline void pawl_toy_push(pawl_toy *l, pawl_toy_waiter *mine)
{
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t top = atomic_load_explicit(&l->top, memory_order_relaxed);
    for (;;) {
        if (top == 0 && pawl_toy_try(l))
            return;
        top = atomic_load_explicit(&l->top, memory_order_relaxed);
        if (top == 0)
            continue;
        atomic_store_explicit(&mine->next, top, memory_order_relaxed);
        if (pawl_cas_release(&l->top, top, pawl_address(mine))) /* B: publishes gate and next */
            break;
    }
    pawl_wait_while_eq(&mine->gate, 0); /* C: sees all the last owner wrote */
}

static inline void pawl_toy_acquire(pawl_toy *l, pawl_toy_ctx *c)
{
    (void)c;
    pawl_toy_enter();
    if (!pawl_toy_try(l))
        pawl_toy_push(l, &pawl_toy_waiter_self);
    pawl_toy_count_self.taken++;
}

static inline void pawl_toy_release(pawl_toy *l, pawl_toy_ctx *c)
{
    (void)c;
    uint64_t top = PAWL_TOY_HELD;
    while (!atomic_compare_exchange_weak_explicit(
        &l->top, &top,
        top == PAWL_TOY_HELD ? 0
                             : atomic_load_explicit(&((pawl_toy_waiter *)top)->next, memory_order_relaxed),
        memory_order_release, memory_order_acquire)) /* A; B */
        ;
    if (top != PAWL_TOY_HELD)
        pawl_post(&((pawl_toy_waiter *)top)->gate, 1); /* C */
}

PAWL_LOCK_FUNCTIONS(toy, PAWL_HOW_OBLIVIOUS)
