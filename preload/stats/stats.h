/* stats.h - what a program's locks cost it, collected on request
 *
 * Enabled by PAWL_STATS=FILE or PAWL_PROFILE=FILE in the environment (start.c). The program's allocator may be what calls
 * the hooks below: they allocate nothing, take no lock, print nothing, and leave errno alone.
 */
#pragma once

#include "table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check it before every hook, once for those of one call. Set by a constructor, so that the first release of a lock
 * may come without its acquisition; never cleared. */
extern bool stats_on;

/* One call that locks. */
typedef struct stats_call {
    stats_row *row; /* NULL: there is no room for it */
    const void *site;
    uint32_t stack;                /* 0: not captured */
    uint32_t holder, holder_tid;   /* when it began to wait */
    uint64_t start_ns, held_since; /* start 0: it does not wait */
    uint64_t end_ns;               /* of a wait on a condition variable */
    stats_wait *waiting;           /* its place among those that wait, if it has one */
    bool unlisted;                 /* none was free */
    bool relocks;                  /* for a condition variable that was waited for */
} stats_call;

/* Before the first try. The call site is the return address of the pthread function. `relocks` may be set after it. */
void stats_ask(stats_call *c, const void *lock, stats_kind kind, const void *site);

/* The lock is taken, and the caller is about to wait. */
void stats_wait_begin(stats_call *c);

/* It ended without the lock, and is not counted: the call was wrong, or its thread is cancelled. */
void stats_wait_end(stats_call *c);

/* The deadline came first. */
void stats_waited_in_vain(stats_call *c);

/* The lock is taken, and the caller does not wait. */
void stats_refused(const stats_call *c);

/* The caller has just acquired the lock (not relocked a recursive one). */
void stats_acquired(stats_call *c);

/* The same for a lock of which all else is known: how long it is held, is to be measured. */
void stats_time(stats_row *row);

/* The caller is about to release the lock, in unlock or in a wait on a condition variable. */
void stats_released(const void *lock, stats_kind kind);

/* A wait on a condition variable: stats_ask(), stats_wait_begin(), then these, before the mutex is locked again and
 * afterwards. Not signalled: the deadline came first. */
void stats_cond_woken(stats_call *c, bool signalled);
void stats_cond_waited(const stats_call *c);

/* About to wake a thread that waits on the condition variable. */
void stats_signalled(const void *cond, const void *site);

/* ---- for a call that may take several tries: in a fork's child (fork/adopt.c), in slices (cancel.c) */

static inline void stats_not_asked(stats_call *c)
{
    c->site = NULL;
    c->start_ns = 0;
}

/* stats_ask(), unless an earlier try did. */
static inline void stats_ask_once(stats_call *c, const void *lock, const void *site)
{
    if (c->site == NULL)
        stats_ask(c, lock, STATS_MUTEX, site);
}

/* stats_wait_begin(), unless an earlier try did. */
static inline void stats_wait_once(stats_call *c)
{
    if (c->start_ns == 0)
        stats_wait_begin(c);
}

/* The call returns an error. */
static inline void stats_failed(stats_call *c, bool timed_out)
{
    if (c->start_ns > 0)
        (timed_out ? stats_waited_in_vain : stats_wait_end)(c);
}

/* ---- region.c */

/* A table of zeros, in the book of that path or (NULL, empty) of its own; false if there is no memory. Whether all holds
 * are to be timed, if the book does not say so. */
bool stats_table_begin(const char *book, bool all);

/* Another one in its place, in a fork's child. */
void stats_table_renew(void);

/* ---- meets.c */

void stats_record(stats_times *t, uint64_t ns); /* only the lock's owner calls it */
void stats_record_shared(stats_times *t, uint64_t ns);

/* By the lock's owner. Without a waiter (0): how long the holder had it. */
void stats_met(const stats_row *row, uint32_t waiter, uint32_t holder, uint64_t ns);

/* By a waiter that gave up. */
void stats_met_in_vain(const stats_row *row, uint32_t waiter, uint32_t holder, uint64_t ns);

/* ---- worst.c */

void stats_keep_if_long(const stats_call *c, uint64_t end);

/* Among those that wait, so that it is known if it never ends. */
void stats_enlist(stats_call *c);
void stats_discharge(const stats_call *c);

/* Whether the caller has it now; not if it is taken for long. Store 0 to let it go. */
bool stats_enter(_Atomic uint32_t *lock);

/* ---- stack.c */

/* The stack that called the pthread function which returns to `site`, as deep as the table says; 0: no room. */
uint32_t stats_stack_here(const void *site);

/* Of the call alone. */
uint32_t stats_stack_of(uintptr_t site);

void stats_stack_prepare(void);

/* ---- maps.c */

/* The generation of maps in which all of these are code, as far as the kernel knows. */
unsigned stats_maps_of(const uint64_t *frames, int depth);
