/* leave.c - waiting with a deadline in a queue that can be left, for mcs and reciprocating */
#include "leave.h"
#include "park/futex.h"
#include "park/pause.h"
#include "park/word.h"

#include <errno.h>

/* As in wait.c. */
#ifndef PAWL_SPIN_NS
#define PAWL_SPIN_NS 8000
#endif

int pawl_leave_check(int clock, const struct timespec *deadline)
{
    int error = pawl_deadline_check(clock, deadline);
    return error == 0 && pawl_left(clock, deadline) <= 0 ? ETIMEDOUT : error;
}

int pawl_leave_at(pawl_word *w, uint64_t waiting, uint64_t left, int clock, const struct timespec *deadline)
{
    int result = 0;
    pawl_waiter me = PAWL_WAITER;
    if (pawl_spin_while_eq(w, waiting, pawl_pauses(PAWL_SPIN_NS))) /* the lock's hand-off */
        return 0;
    while (atomic_load_explicit(w, memory_order_acquire) == waiting) { /* sees the critical section */
        if (pawl_left(clock, deadline) > 0) {
            pawl_park_until(&me, w, PAWL_ANY, clock, deadline);
        } else if (pawl_cas_relaxed(w, waiting, left)) { /* our last access to it */
            result = ETIMEDOUT;
            break;
        }
    }
    pawl_wait_end(&me, w);
    return result;
}
