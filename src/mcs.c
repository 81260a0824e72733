/* mcs.c - waiting in the queue of an MCS lock with a deadline */
#include <pawl/mcs.h>
#include "leave.h"

#include <errno.h>

int pawl_mcs_lock_until(pawl_mcs *l, pawl_mcs_ctx *c, int clock, const struct timespec *deadline)
{
    int error = pawl_leave_check(clock, deadline);
    if (error != 0)
        return error;
    pawl_node *mine = c->node = pawl_node_get();
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel); /* A, B */
    if (before == 0)
        return 0;
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    pawl_post(&((pawl_node *)before)->next, pawl_address(mine) | PAWL_MCS_TIMED); /* C: publishes wait == 1 */
    return pawl_leave_at(&mine->wait, 1, PAWL_MCS_LEFT, clock, deadline);         /* D */
}
