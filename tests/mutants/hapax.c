/* hapax.c - Hapax, Tidex and TWA, wrong on purpose */
#include "mutants.h"

static void unlock_slot_first(void *lock, lock_ctx *c)
{
    pawl_hapax *l = lock;
    uint64_t mine = c->hapax.hapax;
    pawl_post(&pawl_slot_of(l, mine)->notify, mine);
    pawl_post(&l->depart, mine);
}

/* Listings 2 and 6 as printed. */
static void lock_as_printed(void *lock, lock_ctx *c)
{
    pawl_hapax *l = lock;
    uint64_t mine = c->hapax.hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_seq_cst);
    pawl_word *notify = &pawl_slot_of(l, pred)->notify;
    uint64_t seen = 0;
    while (atomic_load_explicit(&l->depart, memory_order_acquire) != pred) {
        seen = pawl_wait_while_eq(notify, seen);
        if (seen == pred)
            break;
    }
}

/* Believes any change of the slot, as visible waiters may. */
static void lock_trusting_the_slot(void *lock, lock_ctx *c)
{
    pawl_hapax *l = lock;
    uint64_t mine = c->hapax.hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    pawl_word *notify = &pawl_slot_of(l, pred)->notify;
    uint64_t seen = atomic_load_explicit(notify, memory_order_acquire);
    if (seen != pred && atomic_load_explicit(&l->depart, memory_order_acquire) != pred)
        pawl_wait_while_eq(notify, seen);
}

static void vw_lock_without_ratifying(void *lock, lock_ctx *c)
{
    pawl_hapax_vw *l = lock;
    uint64_t mine = c->hapax_vw.hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    if (atomic_load_explicit(&l->depart, memory_order_acquire) == pred)
        return;
    pawl_word *visible = &pawl_slot_of(l, pred)->visible;
    if (pawl_hapax_register(visible, pred))
        pawl_wait_while_eq(visible, pred);
    else
        pawl_wait_until_eq(&l->depart, pred);
}

static void vw_unlock_without_second_look(void *lock, lock_ctx *c)
{
    pawl_hapax_vw *l = lock;
    uint64_t mine = c->hapax_vw.hapax;
    if (!pawl_cas_release(&pawl_slot_of(l, mine)->visible, mine, 0))
        atomic_store_explicit(&l->depart, mine, memory_order_seq_cst);
}

/* Withdraws from its slot before its turn has come, as if a deadline had passed. False if it has the lock. */
static bool vw_leaves(pawl_hapax_vw *l, pawl_hapax_vw_ctx *c)
{
    uint64_t mine = c->hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    c->waited = true;
    if (atomic_load_explicit(&l->depart, memory_order_acquire) == pred)
        return false;
    pawl_word *visible = &pawl_slot_of(l, pred)->visible;
    if (!pawl_hapax_register(visible, pred)) {
        pawl_wait_until_eq(&l->depart, pred);
        return false;
    }
    bool departed = atomic_load_explicit(&l->depart, memory_order_seq_cst) == pred;
    bool withdrew = pawl_cas_relaxed(visible, pred, 0);
    if (!withdrew)
        pawl_wait_while_eq(visible, pred); /* it was handed the lock */
    return withdrew && !departed;
}

/* Goes, and comes again: nobody ever departs in the name of the hapax that it left behind. */
static void vw_lock_leaving(void *lock, lock_ctx *c)
{
    if (vw_leaves(lock, &c->hapax_vw))
        pawl_hapax_vw_acquire(lock, &c->hapax_vw);
}

/* Departs in its own name when it goes, before its predecessor has. */
static void vw_lock_departing_early(void *lock, lock_ctx *c)
{
    if (vw_leaves(lock, &c->hapax_vw)) {
        pawl_hapax_vw_release(lock, &c->hapax_vw);
        pawl_hapax_vw_acquire(lock, &c->hapax_vw);
    }
}

/* Withdraws with a store, over whatever the slot holds by then. */
static void vw2_lock_withdrawing_by_store(void *lock, lock_ctx *c)
{
    pawl_hapax_vw2 *l = lock;
    uint64_t mine = c->hapax_vw2.hapax = pawl_hapax_next();
    uint64_t pred = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    if (atomic_load_explicit(&l->depart, memory_order_acquire) == pred)
        return;
    pawl_slot *slot = pawl_slot_of(l, pred);
    if (pawl_hapax_register(&slot->visible, pred)) {
        if (atomic_load_explicit(&slot->visible, memory_order_acquire) != pred)
            return;
        atomic_store_explicit(&slot->visible, 0, memory_order_relaxed);
    }
    pawl_hapax_wait(&l->depart, &slot->notify, pred);
}

static void vw2_unlock_without_notice(void *lock, lock_ctx *c)
{
    pawl_hapax_vw2 *l = lock;
    uint64_t mine = c->hapax_vw2.hapax;
    pawl_slot *slot = pawl_slot_of(l, mine);
    if (!pawl_cas_release(&slot->visible, mine, 0))
        pawl_hapax_depart(&l->depart, &slot->visible, mine);
}

static void tidex_lock_with_one_identity(void *lock, lock_ctx *c)
{
    pawl_tidex *l = lock;
    uint64_t mine = pawl_address(pawl_tidex_self);
    uint64_t before = atomic_exchange_explicit(&l->arrive, mine, memory_order_acq_rel);
    pawl_wait_until_eq(&l->depart, before);
    c->tidex.identity = mine;
}

static void tidex_lock_relaxed(void *lock, lock_ctx *c)
{
    pawl_tidex *l = lock;
    uint64_t mine = pawl_address(pawl_tidex_self);
    mine += atomic_load_explicit(&l->depart, memory_order_relaxed) == mine;
    uint64_t before = atomic_exchange_explicit(&l->arrive, mine, memory_order_relaxed);
    pawl_wait_until_eq(&l->depart, before);
    c->tidex.identity = mine;
}

/* Looks at `serving` before the slot, so that a poke in between is lost. */
static void twa_lock_in_the_wrong_order(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_twa *l = lock;
    uint64_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    pawl_word *slot = pawl_twa_slot_of(l, mine);
    while (mine - atomic_load_explicit(&l->serving, memory_order_acquire) > 1) {
        uint64_t count = atomic_load_explicit(slot, memory_order_acquire);
        pawl_wait_while_eq_relaxed(slot, count);
    }
    pawl_wait_until_eq(&l->serving, mine);
}

/* Nobody becomes next in line: the one after next is told, too early. */
static void twa_unlock_poking_the_wrong_slot(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_twa *l = lock;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_relaxed) + 1;
    pawl_post(&l->serving, serving);
    pawl_post_count(pawl_twa_slot_of(l, serving + 2));
}

const mutant hapax_mutants[] = {
    {"hapax-swapped-stores", "hapax", "writes the slot before `depart`", NULL, unlock_slot_first,
     CAUGHT(LAB_DEADLOCK), false, 0},
    {"hapax-as-printed", "hapax", "watches a slot that collides alone", lock_as_printed, NULL,
     CAUGHT(LAB_DEADLOCK), false, 1},
    {"hapax-trusts-slot", "hapax", "takes any change of the slot for the hand-over", lock_trusting_the_slot,
     NULL, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE) | CAUGHT(LAB_DEADLOCK), false, 1},
    {"hapax_vw-no-ratify", "hapax_vw", "does not look at `depart` after registering",
     vw_lock_without_ratifying, NULL, CAUGHT(LAB_DEADLOCK), false, 0},
    {"hapax_vw-no-second-look", "hapax_vw", "does not look for a waiter after the store to `depart`", NULL,
     vw_unlock_without_second_look, CAUGHT(LAB_DEADLOCK), false, 0},
    {"hapax_vw-leaves", "hapax_vw", "leaves the queue without a word", vw_lock_leaving, NULL,
     CAUGHT(LAB_DEADLOCK), false, 0},
    {"hapax_vw-departs-early", "hapax_vw", "leaves the queue as if its turn had come",
     vw_lock_departing_early, NULL, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE), false, 0},
    {"hapax_vw2-withdraws-by-store", "hapax_vw2", "withdraws without looking", vw2_lock_withdrawing_by_store,
     NULL, CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_TWO_OWNERS), false, 0},
    {"hapax_vw2-no-notice", "hapax_vw2", "leaves invisible waiters to themselves", NULL,
     vw2_unlock_without_notice, CAUGHT(LAB_DEADLOCK), false, 0},
    {"tidex-one-identity", "tidex", "arrives under the identity that departed last",
     tidex_lock_with_one_identity, NULL,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"tidex-relaxed", "tidex", "has a relaxed exchange, as Hapax may", tidex_lock_relaxed, NULL,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE), false, 0},
    {"twa-wrong-order", "twa", "looks at the lock before the slot", twa_lock_in_the_wrong_order, NULL,
     CAUGHT(LAB_DEADLOCK), false, 0},
    {"twa-wrong-slot", "twa", "pokes the slot of the one after next", NULL, twa_unlock_poking_the_wrong_slot,
     CAUGHT(LAB_DEADLOCK), false, 0},
    {0},
};
