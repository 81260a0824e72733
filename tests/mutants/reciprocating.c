/* reciprocating.c - Reciprocating and retrograde, wrong on purpose */
#include "mutants.h"

static void lock_without_end_of_segment(void *lock, lock_ctx *c)
{
    pawl_reciprocating *l = lock;
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t below = atomic_exchange_explicit(&l->arrivals, pawl_address(mine), memory_order_acq_rel);
    c->reciprocating.next = below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
    c->reciprocating.end = below == 0 ? pawl_address(mine) : pawl_wait_while_eq(&mine->gate, 0);
}

/* Keeps the lock after a race, as `swap` does, but sends no end marker. */
static void relay_lock_that_keeps_the_lock(void *lock, lock_ctx *c)
{
    pawl_reciprocating_relay *l = lock;
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    uint64_t race = 0;
    uint64_t below = pawl_reciprocating_arrive(l, mine, &race);
    c->reciprocating_relay.next = below == 0 ? race : below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
    if (below != 0)
        pawl_element_wait(mine);
}

/* Sends the marker on but does not stop at it. */
static void swap_lock_that_runs_past_the_marker(void *lock, lock_ctx *c)
{
    pawl_reciprocating_swap *l = lock;
    pawl_element *mine = &pawl_element_self;
    atomic_store_explicit(&mine->gate, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    uint64_t race = 0;
    uint64_t below = pawl_reciprocating_arrive(l, mine, &race);
    c->reciprocating_swap.next = below == 0 ? race : below & ~(uint64_t)PAWL_RECIPROCATING_EMPTY;
    if (below != 0)
        pawl_element_wait(mine);
    else if (race != 0)
        atomic_store_explicit(&((pawl_element *)race)->next, pawl_address(mine), memory_order_relaxed);
}

/* Forgets whoever stepped back. */
static void shuffle_unlock_without_the_deferred(void *lock, lock_ctx *c)
{
    pawl_reciprocating_shuffle_ctx *s = &c->reciprocating_shuffle;
    if (s->base.next != 0)
        pawl_shuffle_pass(s);
    else
        pawl_reciprocating_release(lock, &s->base);
}

static void retrograde_unlock_with_top_for_base(void *lock, lock_ctx *c)
{
    (void)c;
    pawl_retrograde *l = lock;
    int64_t grant = (int64_t)atomic_load_explicit(&l->grant, memory_order_relaxed) - 1;
    if (grant > l->top) {
        pawl_post(&l->grant, (uint64_t)grant);
        return;
    }
    int64_t next = (int64_t)atomic_load_explicit(&l->next, memory_order_relaxed);
    bool alone = next == l->top + 1;
    l->base = alone ? next : l->top;
    l->top = alone ? next : next - 1;
    pawl_post(&l->grant, (uint64_t)l->top);
}

const mutant reciprocating_mutants[] = {
    {"reciprocating-no-end-of-segment", "reciprocating", "hands over to the element of a past owner",
     lock_without_end_of_segment, NULL, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"reciprocating_relay-keeps-lock", "reciprocating_relay", "keeps the lock after a race",
     relay_lock_that_keeps_the_lock, NULL, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"reciprocating_swap-runs-past-marker", "reciprocating_swap", "ignores the end marker",
     swap_lock_that_runs_past_the_marker, NULL, CAUGHT(LAB_TWO_OWNERS) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"reciprocating_shuffle-loses-deferred", "reciprocating_shuffle", "forgets whoever stepped back", NULL,
     shuffle_unlock_without_the_deferred, CAUGHT(LAB_DEADLOCK), false, 0},
    {"retrograde-top-for-base", "retrograde", "mixes up `top` and `base`", NULL,
     retrograde_unlock_with_top_for_base, CAUGHT(LAB_DEADLOCK) | CAUGHT(LAB_TWO_OWNERS), false, 0},
    {0},
};
