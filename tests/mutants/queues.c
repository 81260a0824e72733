/* queues.c - the classics, wrong on purpose */
#include "mutants.h"

/* Takes its own node back instead of its predecessor's. */
static void clh_lock_without_switch(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_clh *l = lock;
    pawl_node *mine = pawl_node_get();
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (before != 0)
        pawl_wait_until_eq(&((pawl_node *)before)->wait, 0);
    pawl_node_put(mine);
    l->owner = mine;
}

/* Puts the node back before the successor has linked itself to it. */
static void mcs_unlock_too_early(void *lock, lock_ctx *c)
{
    pawl_mcs *l = lock;
    pawl_node *mine = c->mcs.node;
    uint64_t next = atomic_load_explicit(&mine->next, memory_order_acquire);
    pawl_node_put(mine);
    if (next != 0)
        pawl_post(&((pawl_node *)next)->wait, 0);
    else if (!pawl_cas_release(&l->tail, pawl_address(mine), 0))
        pawl_post(&((pawl_node *)pawl_wait_while_eq(&mine->next, 0))->wait, 0);
}

static void mcs_lock_linking_first(void *lock, lock_ctx *c)
{
    pawl_mcs *l = lock;
    pawl_node *mine = c->mcs.node = pawl_node_get();
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel);
    if (before == 0)
        return;
    pawl_post(&((pawl_node *)before)->next, pawl_address(mine));
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    pawl_wait_until_eq(&mine->wait, 0);
}

/* Two steps where one is needed. */
static void tts_lock_in_two_steps(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_tts *l = lock;
    pawl_wait_until_eq(&l->held, 0);
    atomic_store_explicit(&l->held, 1, memory_order_seq_cst);
}

static void tts_unlock_relaxed(void *lock, lock_ctx *c)
{
    (void)c;
    atomic_store_explicit(&((pawl_tts *)lock)->held, 0, memory_order_relaxed);
}

/* Touches the lock once more after the hand-over. */
static void ticket_unlock_looking_back(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_ticket *l = lock;
    uint64_t serving = atomic_load_explicit(&l->serving, memory_order_relaxed);
    pawl_post(&l->serving, serving + 1);
    (void)atomic_load_explicit(&l->next, memory_order_relaxed);
}

/* Enters when it finds the lock free, past those who wait. */
static void ticket_lock_barging(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_ticket *l = lock;
    for (;;) {
        uint64_t serving = atomic_load_explicit(&l->serving, memory_order_acquire);
        if (pawl_cas_relaxed(&l->next, serving, serving + 1))
            return;
        pawl_wait_while_eq(&l->serving, serving);
    }
}

/* Opens the gate before the element is off the stack. */
static void lifo_unlock_gate_first(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_lifo *l = lock;
    if (pawl_cas_release(&l->top, PAWL_LIFO_HELD, 0))
        return;
    uint64_t top = atomic_load_explicit(&l->top, memory_order_acquire);
    uint64_t next = atomic_load_explicit(&((pawl_element *)top)->next, memory_order_relaxed);
    pawl_post(&((pawl_element *)top)->gate, 1);
    pawl_cas_release(&l->top, top, next);
}

const mutant queue_mutants[] = {
    {"clh-no-node-switch", "clh", "keeps the node that its successor watches", clh_lock_without_switch, NULL,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_DATA_RACE), false, 0},
    {"mcs-node-too-early", "mcs", "gives the node back while it is linked", NULL, mcs_unlock_too_early,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_DATA_RACE) | CAUGHT(LAB_LEAK), false, 0},
    {"mcs-links-first", "mcs", "prepares its node after linking it", mcs_lock_linking_first, NULL,
     CAUGHT(LAB_DEADLOCK), false, 0},
    {"tts-two-steps", "tts", "looks, then takes", tts_lock_in_two_steps, NULL,
     CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DATA_RACE), false, 0},
    {"tts-relaxed-unlock", "tts", "publishes nothing", NULL, tts_unlock_relaxed, CAUGHT(LAB_DATA_RACE), false,
     0},
    {"ticket-looks-back", "ticket", "touches the lock after the hand-over", NULL, ticket_unlock_looking_back,
     CAUGHT(LAB_DESTROYED), false, 0},
    {"ticket-barges", "ticket", "overtakes", ticket_lock_barging, NULL, CAUGHT(LAB_OVERTAKEN), false, 0},
    {"lifo-gate-first", "lifo", "lets a waiter go before it is off the stack", NULL, lifo_unlock_gate_first,
     CAUGHT(LAB_CRASH) | CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_DATA_RACE) |
         CAUGHT(LAB_DESTROYED) | CAUGHT(LAB_NO_PROGRESS) | CAUGHT(LAB_DEAD_THREAD),
     false, 0},
    {0},
};
