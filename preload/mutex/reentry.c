/* reentry.c - a signal handler that locks, having interrupted its thread in a lock operation
 *
 * The handler sets the thread's slices aside, as slice.h says: it draws another hapax and takes queue nodes from the pool. The
 * thread's waiting element may be in a queue already, so a handler does not queue but polls. Hemlock's mailbox may be
 * in use by the interrupted hand-off, so handlers have a mailbox of their own.
 */
#include "reentry.h"
#include "lock.h"

#include "src/reentry.h"
#include "src/slices.h"

#include <string.h>

static const pawl_slice *own_slice_at(int *i)
{
    const pawl_slice *s;
    do
        s = pawl_slice_at((*i)++);
    while (s != NULL && s->shared);
    return s;
}

/* Of all slices that are set aside. */
static size_t aside_bytes(void)
{
    size_t bytes = 0;
    const pawl_slice *s;
    for (int i = 0; (s = own_slice_at(&i)) != NULL;)
        bytes += s->size;
    return bytes;
}

static void set_aside(char *to)
{
    const pawl_slice *s;
    for (int i = 0; (s = own_slice_at(&i)) != NULL; to += s->size) {
        memcpy(to, s->address(), s->size);
        memset(s->address(), 0, s->size);
    }
}

static void restore(const char *from)
{
    const pawl_slice *s;
    for (int i = 0; (s = own_slice_at(&i)) != NULL; from += s->size) {
        if (s->leave != NULL)
            s->leave();
        memcpy(s->address(), from, s->size);
    }
}

/* ---- Hemlock's, of which all but one listing speak of one mailbox in the same way: see hemlock.h */

/* Null for all other locks. */
static inline pawl_word *threads_mailbox(void)
{
    return PRELOAD_SAID(JOIN(PAWL_MAILBOX_, PRELOAD_LOCK, ));
}

static __thread pawl_word mailbox __attribute__((tls_model("initial-exec")));

/* A byte that a lock of one word leaves free: whether a handler's mailbox holds the lock. */
static char *is_by_mailbox(mutex *m)
{
    return &m->third[0];
}

static bool try_by_mailbox(mutex *m)
{
    if (!pawl_cas_acq_rel((pawl_word *)m, 0, pawl_address(&mailbox))) /* A, D */
        return false;
    *is_by_mailbox(m) = true;
    return true;
}

/* An address in the mailbox: the interrupted thread is handing off another lock, and may not have woken the successor yet. An
 * odd number announces a waiter (`oh1`). */
static void await_hand_off(pawl_word *box)
{
    uint64_t found;
    while ((found = atomic_load_explicit(box, memory_order_relaxed)) != 0 && (found & 1) == 0) {
        pawl_wake(box, found);
        pawl_wait_while_eq(box, found);
    }
}

static void release_by_mailbox(mutex *m)
{
    pawl_word *tail = (pawl_word *)m;
    if (!*is_by_mailbox(m)) { /* taken by the interrupted thread */
        await_hand_off(threads_mailbox());
        raw_release(m);
        await_hand_off(threads_mailbox());
        return;
    }
    *is_by_mailbox(m) = false;
    if (pawl_cas_release(tail, pawl_address(&mailbox), 0)) /* A */
        return;
    pawl_post(&mailbox, pawl_address(tail));                  /* B: publishes the critical section */
    pawl_wait_rmw_while_eq(&mailbox, pawl_address(tail));     /* C */
    atomic_store_explicit(&mailbox, 0, memory_order_relaxed); /* an announcement of `oh1` may have followed */
}

/* ---- any lock */

static bool try_in_handler(void *argument)
{
    mutex *m = argument;
    if (threads_mailbox() != NULL)
        return try_by_mailbox(m);
    char aside[aside_bytes()];
    set_aside(aside);
    bool taken = raw_try(m);
    restore(aside);
    return taken;
}

static void release_in_handler(mutex *m)
{
    if (threads_mailbox() != NULL) {
        release_by_mailbox(m);
        return;
    }
    char aside[aside_bytes()];
    set_aside(aside);
    raw_release(m);
    restore(aside);
}

void acquire_in_handler(mutex *m)
{
    pawl_reentry_poll(try_in_handler, m, CLOCK_MONOTONIC, NULL);
}

bool reentrant_try(mutex *m)
{
    return is_reentry() ? try_in_handler(m) : lock_try(m);
}

void reentrant_release(mutex *m)
{
    if (UNLOCK_USES_THREAD && is_reentry())
        release_in_handler(m);
    else
        lock_release(m);
}
