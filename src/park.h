/* park.h - sleeping until a post */
#pragma once

#include <pawl/wait.h>

/* Looks before a waiter sleeps: PAWL_SPIN_NS worth of them on this machine. */
unsigned pawl_park_after(void);
void pawl_set_park_after(unsigned looks); /* 0: measure again */

/* One step towards sleep, and a look by the caller between any two: the first announces the waiter, the
 * second sleeps until a post to `w` of the kinds in `which`, or for no reason; briefly: for a millisecond at most. */
void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly);

/* Whether sleepers pay for the fence that posts do without. Returns what it is then: the kernel may refuse.
 * Not while threads wait. */
bool pawl_park_by_membarrier(bool wanted);
