/* mcs.c - waiting in the queue of an MCS lock with a deadline */
#include <pawl/mcs.h>
#include "park/futex.h"
#include "park/pause.h"
#include "park/word.h"

#include <errno.h>

/* As in wait.c. */
#ifndef PAWL_SPIN_NS
#define PAWL_SPIN_NS 8000
#endif

/* Waits until it is the owner (0), or has left (ETIMEDOUT): then the node is that of whoever hands the lock off. */
static int wait_until(pawl_node *mine, int clock, const struct timespec *deadline)
{
    int result = 0;
    pawl_waiter me = PAWL_WAITER;
    if (pawl_spin_while_eq(&mine->wait, 1, pawl_pauses(PAWL_SPIN_NS))) /* D */
        return 0;
    while (atomic_load_explicit(&mine->wait, memory_order_acquire) != 0) { /* D: sees the critical section */
        if (pawl_left(clock, deadline) > 0) {
            pawl_park_until(&me, &mine->wait, PAWL_VALUE(0), clock, deadline);
        } else if (pawl_cas_relaxed(&mine->wait, 1, PAWL_MCS_LEFT)) { /* our last access to the node */
            result = ETIMEDOUT;
            break;
        }
    }
    pawl_wait_end(&me, &mine->wait);
    return result;
}

int pawl_mcs_lock_until(pawl_mcs *l, pawl_mcs_ctx *c, int clock, const struct timespec *deadline)
{
    int error = pawl_deadline_check(clock, deadline);
    if (error != 0)
        return error;
    if (pawl_left(clock, deadline) <=
        0) /* it was just found taken; a node would stay in the queue for nothing */
        return ETIMEDOUT;
    pawl_node *mine = c->node = pawl_node_get();
    uint64_t before = atomic_exchange_explicit(&l->tail, pawl_address(mine), memory_order_acq_rel); /* A, B */
    if (before == 0)
        return 0;
    atomic_store_explicit(&mine->wait, 1, memory_order_relaxed);
    pawl_post(&((pawl_node *)before)->next, pawl_address(mine) | PAWL_MCS_TIMED); /* C: publishes wait == 1 */
    return wait_until(mine, clock, deadline);
}
