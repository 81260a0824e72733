/* fence.h - the asymmetric fence: one side of a Dekker handshake pays for both
 *
 *   light side (post)                     heavy side (before sleeping)
 *   stores to the word              (1)   stores: somebody sleeps      (3)
 *   keeps the compiler in order     (D)   pawl_fence_heavy()           (D)
 *   loads: does anybody sleep?      (2)   loads the word               (4)
 *
 * One of them must see the other, which takes a store-load fence on both sides. Sleeping is rare and slow, posting is
 * neither, so the heavy side asks the kernel to run a fence on every CPU that runs a thread of this process. Where
 * the kernel refuses, or sleeping turns out not to be rare, pawl_parked tells light sides to fence for themselves: it is
 * never zero then.
 */
#pragma once

#include <stdbool.h>

void pawl_fence_heavy(void);

/* Whether it is asymmetric, for `pawl doctor`. */
bool pawl_uses_membarrier(void);

/* Whether they turned out too dear, for statistics. */
bool pawl_gave_up_membarrier(void);

/* For tests: switches membarrier() on or off. False if it is off, or the kernel has none. Only while nobody waits. */
bool pawl_use_membarrier(bool use);
