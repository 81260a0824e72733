/* stats.h - what a program's locks cost it, collected if it was asked for
 *
 * Enabled by PAWL_STATS=FILE in the environment (stats_start.c), written at exit (stats_report.c). The hooks below
 * are called inside the program's own locking, which may be its allocator's: they allocate nothing, take no lock,
 * print nothing, and leave errno alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Set by a constructor at the latest, and never cleared: a lock may be released whose acquisition was not told. Ask
 * before every hook. */
extern bool stats_on;

/* The caller has just become the owner of the lock (not: entered a recursive one again) after waiting for so many
 * nanoseconds; 0 says that it did not have to wait. The call site is the return address of the pthread function. */
void stats_acquired(const void *lock, const void *call_site, uint64_t waited_ns);

/* The caller still owns the lock and is about to let it go, for good or in a wait on a condition variable. */
void stats_released(const void *lock);
