/* shared.h - mutexes that processes share, and that survive the death of their owners and waiters
 *
 *                pawl_mutex_shared                        pawl_hapax_shared
 * Admission      barging; waiters in order of arrival     FIFO; a death may disturb the order once
 * Bypass         unbounded for a millisecond, then 0      0
 * Space          16 bytes per lock; 128 per thread, in the region
 * Unlock         by the thread that locked; does not touch the lock after the release or the hand-off
 * Waiting        local: a waiter watches its predecessor's seat, the first in line `owner`; they sleep after
 *                some microseconds
 * Sharing        by threads of all processes that have attached the region
 *
 *   arrive         hapax of the last in line (Dice & Kogan, PPoPP 2026); 0: nobody waits
 *   heir           the token of the first in line, if it wants to be next
 *   owner          0                 free
 *                  T                 held by the thread of token T, its seat and the seat's generation
 *                  + WAITERS         the first in line sleeps
 *                  + HANDOFF         and wants to be next: see `heir`
 *                  T | RESERVED      free, for T only
 *                  + DIED            T got it from a dead owner, and has not said that the data is consistent
 *                  BROKEN            not recoverable
 *
 * `owner` alone excludes; the line only orders those who want it. So whoever dies in the line costs its place in the
 * order and no more: the thread behind it finds out, and goes on. (docs/shared.md)
 *
 * A lock lies anywhere in shared memory, in the region's or other, at any address in each process. All-zero bytes are
 * an unlocked lock. It needs no destruction.
 */
#pragma once

#include "detail/atomic.h"
#include "region.h"

typedef struct pawl_robust {
    _Atomic(uint32_t) owner, heir;
    pawl_word arrive;
} pawl_robust;

typedef struct pawl_mutex_shared {
    pawl_robust robust;
} pawl_mutex_shared;

typedef struct pawl_hapax_shared {
    pawl_robust robust;
} pawl_hapax_shared;

#ifdef __cplusplus
extern "C" {
#endif

/* lock waits, trylock returns EBUSY instead. Both return
 *
 *   0                the caller has the lock
 *   EOWNERDEAD       the caller has the lock; its last owner died with it, and what it protects may be half changed.
 *                    Repair that and call _consistent, or unlock: then the lock can never be locked again
 *   ENOTRECOVERABLE  that has happened
 *   EDEADLK          the caller has the lock already (lock; trylock returns EBUSY)
 *   ENOLCK           all seats of the region are taken
 *
 * unlock returns EPERM if the caller does not have the lock; consistent EINVAL if there is nothing to be repaired. */
int pawl_mutex_shared_lock(pawl_region *region, pawl_mutex_shared *m);
int pawl_mutex_shared_trylock(pawl_region *region, pawl_mutex_shared *m);
int pawl_mutex_shared_unlock(pawl_region *region, pawl_mutex_shared *m);
int pawl_mutex_shared_consistent(pawl_region *region, pawl_mutex_shared *m);

int pawl_hapax_shared_lock(pawl_region *region, pawl_hapax_shared *l);
int pawl_hapax_shared_trylock(pawl_region *region, pawl_hapax_shared *l);
int pawl_hapax_shared_unlock(pawl_region *region, pawl_hapax_shared *l);
int pawl_hapax_shared_consistent(pawl_region *region, pawl_hapax_shared *l);

#ifdef __cplusplus
}
#endif
