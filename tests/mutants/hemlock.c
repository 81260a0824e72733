/* hemlock.c - Hemlock, wrong on purpose */
#include "mutants.h"

static void unlock_without_acknowledgement(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock *l = lock;
    pawl_word *mine = &pawl_hemlock_self.grant;
    if (!pawl_cas_release(&l->tail, pawl_address(mine), 0))
        pawl_post(mine, pawl_address(l));
}

static void overlap_lock_without_residual_check(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock_overlap *l = lock;
    pawl_word *mine = &pawl_hemlock_self.overlap;
    pawl_hemlock_self.awaited = pawl_thread_enter();
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (before == 0)
        return;
    pawl_wait_until_eq((pawl_word *)before, pawl_address(l));
    pawl_post((pawl_word *)before, 0);
}

/* Says that something will wait for the mailbox when the thread ends. */
static void overlap_lock_without_exit_rule(void *lock, lock_ctx *c)
{
    pawl_hemlock_self.awaited = true;
    pawl_hemlock_overlap_acquire(lock, &c->hemlock_overlap);
}

/* Waits for an empty mailbox, where another lock's announcement may stand. */
static void oh1_unlock_waiting_for_empty(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock_oh1 *l = lock;
    pawl_word *mine = &pawl_hemlock_self.flagged;
    if (atomic_load_explicit(mine, memory_order_relaxed) != (pawl_address(l) | 1) &&
        pawl_cas_release(&l->tail, pawl_address(mine), 0))
        return;
    pawl_post(mine, pawl_address(l));
    pawl_wait_rmw_until_eq(mine, 0);
}

/* Hands over to whoever heads the chain, whatever it waits for. */
static void chain_unlock_taking_the_first(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock_chain *l = lock;
    pawl_word *mine = &pawl_hemlock_self.chain;
    if (pawl_cas_release(&l->tail, pawl_address(mine), 0))
        return;
    pawl_wait_while_eq_relaxed(mine, 0);
    uint64_t detached = atomic_exchange_explicit(mine, 0, memory_order_acquire);
    pawl_post(&((pawl_element *)detached)->gate, 1);
}

/* Forgets those that wait for the thread's other locks. */
static void chain_unlock_losing_the_rest(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock_chain *l = lock;
    pawl_word *mine = &pawl_hemlock_self.chain;
    if (pawl_cas_release(&l->tail, pawl_address(mine), 0))
        return;
    for (;;) {
        pawl_wait_while_eq_relaxed(mine, 0);
        uint64_t at = atomic_exchange_explicit(mine, 0, memory_order_acquire);
        for (; at != 0; at = atomic_load_explicit(&((pawl_element *)at)->next, memory_order_relaxed))
            if (((pawl_element *)at)->lock == l) {
                pawl_post(&((pawl_element *)at)->gate, 1);
                return;
            }
    }
}

/* Puts the others' waiters back on top of a successor that came meanwhile, and waits for the top to change.
 */
static void chain_unlock_burying_the_successor(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_hemlock_chain *l = lock;
    pawl_word *mine = &pawl_hemlock_self.chain;
    if (pawl_cas_release(&l->tail, pawl_address(mine), 0))
        return;
    pawl_element *successor;
    uint64_t head = 0;
    do {
        pawl_wait_while_eq_relaxed(mine, head);
        uint64_t detached = atomic_exchange_explicit(mine, 0, memory_order_acquire);
        successor = pawl_chain_take(mine, detached, l, &head);
        head = atomic_load_explicit(mine, memory_order_relaxed);
    } while (successor == NULL);
    pawl_post(&successor->gate, 1);
}

const mutant hemlock_mutants[] = {
    {"hemlock_chain-buries-successor", "hemlock_chain", "waits for what it has buried itself", NULL,
     chain_unlock_burying_the_successor, CAUGHT(LAB_DEADLOCK), false, 0},
    {"hemlock-no-acknowledgement", "hemlock", "does not wait for the successor", NULL,
     unlock_without_acknowledgement,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_DEAD_THREAD) | CAUGHT(LAB_DATA_RACE) |
         CAUGHT(LAB_OVERTAKEN),
     false, 0},
    {"hemlock_overlap-no-residual-check", "hemlock_overlap", "arrives with a full mailbox",
     overlap_lock_without_residual_check, NULL,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE) | CAUGHT(LAB_OVERTAKEN), false, 0},
    {"hemlock_overlap-no-exit-rule", "hemlock_overlap", "ends with a full mailbox",
     overlap_lock_without_exit_rule, NULL,
     CAUGHT(LAB_DEAD_THREAD) | CAUGHT(LAB_DATA_RACE) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"hemlock_ah-freed", "hemlock_ah", "claims to survive prompt destruction", NULL, NULL,
     CAUGHT(LAB_DESTROYED), true, 0},
    {"hemlock_oh1-waits-for-empty", "hemlock_oh1", "waits for more than its successor will do", NULL,
     oh1_unlock_waiting_for_empty, CAUGHT(LAB_DEADLOCK), false, 0},
    {"hemlock_chain-takes-first", "hemlock_chain", "hands over to the wrong waiter", NULL,
     chain_unlock_taking_the_first, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"hemlock_chain-loses-rest", "hemlock_chain", "drops the waiters of other locks", NULL,
     chain_unlock_losing_the_rest, CAUGHT(LAB_DEADLOCK), false, 0},
    {0},
};
