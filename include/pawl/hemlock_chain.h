/* hemlock_chain.h - Hemlock with waiting chains (Dice & Kogan, SPAA 2021, appendix C)
 *
 * Admission   FIFO, nobody is overtaken
 * Bypass      0
 * Space       1 word per lock, 4 words per thread: its chain, and its element
 * Unlock      by its owner, not in constant time: waits until a successor that has arrived is on the chain, and walks
 *             past those that wait for other locks of this thread; does not touch the lock after the hand-off
 * Waiting     local, whatever a thread holds: each waiter watches its own element
 * Sharing     by threads of one process
 * Differs     the appendix describes it in prose. The element belongs to the thread, which waits for one lock at a
 *             time, and is not on the stack. A chain without our successor is put back and then watched, not detached
 *             over and over
 *
 *   tail == 0   unlocked
 *   tail        the chain of the latest arrival, where its successor will push its element
 */
#pragma once

#include "detail/base.h"
#include "detail/element.h"
#include "detail/mailboxes.h"

typedef struct pawl_hemlock_chain {
    pawl_word tail;
} pawl_hemlock_chain;

typedef pawl_no_ctx pawl_hemlock_chain_ctx;

/* Pushes the elements `first` ... `last`; returns what was there. */
static inline uint64_t pawl_chain_push(pawl_word *chain, pawl_element *first, pawl_element *last)
{
    uint64_t head = atomic_load_explicit(chain, memory_order_relaxed);
    do
        atomic_store_explicit(&last->next, head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(chain, &head, pawl_address(first), memory_order_release,
                                                  memory_order_relaxed)); /* C: publishes the element */
    pawl_wake(chain, pawl_address(first));
    return head;
}

static inline void pawl_hemlock_chain_acquire(pawl_hemlock_chain *l, pawl_hemlock_chain_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.chain;
    /* A: acquires the critical section of an owner that found no successor. D: publishes our chain, which may be as
     * new as this thread, to the successor that will push to it. */
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (PAWL_LIKELY(before == 0))
        return;
    pawl_element *e = &pawl_element_self;
    e->lock = l;
    atomic_store_explicit(&e->gate, 0, memory_order_relaxed);
    pawl_chain_push((pawl_word *)before, e, e);
    pawl_wait_while_eq(&e->gate, 0); /* B: sees all the last owner wrote */
}

static inline bool pawl_hemlock_chain_try_acquire(pawl_hemlock_chain *l, pawl_hemlock_chain_ctx *c)
{
    (void)c;
    return pawl_cas_acq_rel(&l->tail, 0, pawl_address(&pawl_hemlock_self.chain)); /* A, D */
}

/* Takes the element that waits for `l` out of a detached chain, or returns NULL, and pushes the others back. While
 * the chain still begins with `*head`, our successor has not come. If others came in between, they are buried below,
 * our successor may be among them, and `*head` is 0. */
static inline pawl_element *pawl_chain_take(pawl_word *chain, uint64_t detached, const void *l,
                                            uint64_t *head)
{
    pawl_element *found = NULL, *first = NULL, *last = NULL;
    for (uint64_t at = detached; at != 0;) {
        pawl_element *e = (pawl_element *)at;
        at = atomic_load_explicit(&e->next, memory_order_relaxed);
        if (e->lock == l) {
            found = e;
            continue;
        }
        if (last != NULL)
            atomic_store_explicit(&last->next, pawl_address(e), memory_order_relaxed);
        else
            first = e;
        last = e;
    }
    bool alone = first != NULL && pawl_chain_push(chain, first, last) == 0;
    *head = alone ? pawl_address(first) : 0;
    return found;
}

static inline void pawl_hemlock_chain_release(pawl_hemlock_chain *l, pawl_hemlock_chain_ctx *c)
{
    (void)c;
    pawl_word *mine = &pawl_hemlock_self.chain;
    if (PAWL_LIKELY(pawl_cas_release(&l->tail, pawl_address(mine), 0))) /* A */
        return;
    pawl_element *successor;
    uint64_t head = 0;
    do {
        pawl_wait_while_eq_relaxed(mine, head);
        uint64_t detached = atomic_exchange_explicit(mine, 0, memory_order_acquire); /* C */
        successor = pawl_chain_take(mine, detached, l, &head);
    } while (successor == NULL);
    pawl_post(&successor->gate, 1); /* B: publishes the critical section */
}

PAWL_LOCK_FUNCTIONS(hemlock_chain, PAWL_HOW_OWNER)
