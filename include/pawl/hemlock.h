/* hemlock.h - Hemlock with coherence traffic reduction (Dice & Kogan, SPAA 2021, listing 2)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       1 word per lock, 1 per thread, whatever the number of locks it holds
 * Unlock      by its owner, not in constant time: hands off, then waits until the successor has taken it; does not
 *             touch the lock after the hand-off
 * Waiting     local as long as a thread holds one contended lock at a time: a waiter watches its
 *             predecessor's mailbox, and the predecessor has one for all its locks
 * Sharing     by threads of one process
 * Differs     arrival is a release, and so is the acknowledgement, which the owner acquires: the mailbox comes and
 *             goes with its thread
 *
 *   tail == 0   unlocked
 *   tail        the mailbox of the latest arrival
 *
 *   mailbox 0 -> lock   its owner hands that lock off      lock -> 0   the successor has taken it
 *
 * Both sides poll with read-modify-writes, so that the line they wait for arrives writable.
 */
#pragma once

#include "detail/base.h"
#include "detail/mailboxes.h"

typedef struct pawl_hemlock {
    pawl_word tail;
} pawl_hemlock;

typedef pawl_no_ctx pawl_hemlock_ctx;
#define PAWL_MAILBOX_hemlock , &pawl_hemlock_self.grant

static inline void pawl_hemlock_acquire(pawl_hemlock *l, pawl_hemlock_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    /* A: acquires the critical section of an owner that found no successor. D: publishes our mailbox, which may be as
     * new as this thread, to the successor that will watch it. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (PAWL_UNLIKELY(before != 0))
        pawl_wait_cas((pawl_word *)before, pawl_address(l), 0); /* B: sees all the last owner wrote; C */
}

static inline bool pawl_hemlock_try_acquire(pawl_hemlock *l, pawl_hemlock_ctx *c)
{
    (void)c;
    return pawl_cas_acq_rel(&l->tail, 0, pawl_address(&pawl_hemlock_self.grant)); /* A, D */
}

static inline void pawl_hemlock_release(pawl_hemlock *l, pawl_hemlock_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.grant;
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_post(mine, pawl_address(l)); /* B: publishes the critical section */
    pawl_wait_rmw_until_eq(mine, 0);  /* C: the successor is done with our mailbox */
}

PAWL_LOCK_FUNCTIONS(hemlock, PAWL_HOW_OWNER)
