/* reciprocating.c - waiting on the stack of a Reciprocating lock with a deadline
 *
 * With a node from the pool: a thread has only one element, and what is on the stack stays there when its thread leaves.
 */
#include <pawl/reciprocating.h>
#include "leave.h"

#include <errno.h>

/* True if it is on the stack; false if the lock was free, and is ours. */
static bool push(pawl_reciprocating *l, pawl_reciprocating_ctx *c, pawl_node *mine)
{
    for (;;) {
        if (pawl_reciprocating_try_acquire(l, c))
            return false;
        uint64_t below = atomic_load_explicit(&l->arrivals, memory_order_relaxed);
        atomic_store_explicit(&mine->next, below, memory_order_relaxed);
        if (below != 0 && pawl_cas_release(&l->arrivals, below,
                                           pawl_address(mine) |
                                               PAWL_RECIPROCATING_TIMED)) /* B: publishes gate and `next` */
            return true;
    }
}

static void put(pawl_node *n)
{
    atomic_store_explicit(&n->next, 0, memory_order_relaxed);
    pawl_node_put(n);
}

int pawl_reciprocating_lock_until(pawl_reciprocating *l, pawl_reciprocating_ctx *c, int clock,
                                  const struct timespec *deadline)
{
    int error = pawl_leave_check(clock, deadline);
    if (error != 0)
        return error;
    pawl_node *mine = pawl_node_get();
    atomic_store_explicit(&mine->wait, 0, memory_order_relaxed);
    if (push(l, c, mine)) {
        error = pawl_leave_at(&mine->wait, 0, PAWL_RECIPROCATING_LEFT, clock, deadline);
        if (error != 0)
            return error;
        pawl_reciprocating_enter(c, atomic_load_explicit(&mine->next, memory_order_relaxed),
                                 atomic_load_explicit(&mine->wait, memory_order_relaxed));
    }
    put(mine);
    return 0;
}
