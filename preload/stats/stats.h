/* stats.h - what a program's locks cost it, collected on request
 *
 * Enabled by PAWL_STATS=FILE in the environment (start.c), written at exit (report.c). The program's allocator may be what
 * calls the hooks below: they allocate nothing, take no lock, print nothing, and leave errno alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Check it before every hook. Set by a constructor, so that the first release of a lock may come without its
 * acquisition; never cleared. */
extern bool stats_on;

/* The caller has just acquired the lock (not relocked a recursive one) after waiting for so many nanoseconds; 0: it did
 * not wait. The call site is the return address of the pthread function. */
void stats_acquired(const void *lock, const void *call_site, uint64_t waited_ns);

/* The caller is about to release the lock, in unlock or in a wait on a condition variable. */
void stats_released(const void *lock);
