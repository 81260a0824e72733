/* nested.c - locking in a signal handler that has interrupted locking
 *
 * The thread's slices are put aside, as slice.h says: a hapax is drawn anew, a queue node comes from the pool. The element
 * that it waits on may be in a queue already, so a handler does not wait in one but tries again. Hemlock's mailbox may
 * be full of the hand-over that was interrupted, so there is another one for handlers.
 */
#include "lock.h"

#include "src/nested.h"
#include "src/slices.h"

#include <string.h>

#ifdef PRELOAD_MUTEX
#define PRELOAD_LOCK none_of_the_register
#endif

static bool is_nested(void)
{
    return LOCK_USES_THREAD && self.ready == 0 && self.tid != 0;
}

static const pawl_slice *own_slice_at(int *i)
{
    const pawl_slice *s;
    do
        s = pawl_slice_at((*i)++);
    while (s != NULL && s->shared);
    return s;
}

/* Of all slices that are put aside. */
static size_t aside_bytes(void)
{
    size_t bytes = 0;
    const pawl_slice *s;
    for (int i = 0; (s = own_slice_at(&i)) != NULL;)
        bytes += s->size;
    return bytes;
}

static void put_aside(char *to)
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

/* A lock of one word leaves this free: whether it was taken by a handler's mailbox. */
static char *is_by_mailbox(body *b)
{
    return &b->third[0];
}

static bool try_by_mailbox(body *b)
{
    if (!pawl_cas_acq_rel((pawl_word *)b, 0, pawl_address(&mailbox))) /* A, D */
        return false;
    *is_by_mailbox(b) = true;
    return true;
}

/* The interrupted thread may be handing over another lock: an address, not an announcement of `oh1`. */
static void await_hand_over(pawl_word *box)
{
    uint64_t found;
    while ((found = atomic_load_explicit(box, memory_order_relaxed)) != 0 && (found & 1) == 0)
        pawl_wait_while_eq(box, found);
}

static void release_by_mailbox(body *b)
{
    pawl_word *tail = (pawl_word *)b;
    if (!*is_by_mailbox(b)) { /* taken by the interrupted thread */
        await_hand_over(threads_mailbox());
        raw_release(b);
        await_hand_over(threads_mailbox());
        return;
    }
    *is_by_mailbox(b) = false;
    if (pawl_cas_release(tail, pawl_address(&mailbox), 0)) /* A */
        return;
    pawl_post(&mailbox, pawl_address(tail));                  /* B: publishes the critical section */
    pawl_wait_rmw_while_eq(&mailbox, pawl_address(tail));     /* C */
    atomic_store_explicit(&mailbox, 0, memory_order_relaxed); /* an announcement of `oh1` may have followed */
}

/* ---- any lock */

static bool try_nested(void *mutex)
{
    body *b = mutex;
    if (threads_mailbox() != NULL)
        return try_by_mailbox(b);
    char aside[aside_bytes()];
    put_aside(aside);
    bool taken = raw_try(b);
    restore(aside);
    return taken;
}

static void release_nested(body *b)
{
    if (threads_mailbox() != NULL) {
        release_by_mailbox(b);
        return;
    }
    char aside[aside_bytes()];
    put_aside(aside);
    raw_release(b);
    restore(aside);
}

bool try_anyhow(body *b)
{
    return is_nested() ? try_nested(b) : try_take(b);
}

void take_anyhow(body *b)
{
    if (!is_nested()) {
        take(b);
        return;
    }
    pawl_nested_take(try_nested, b, CLOCK_MONOTONIC, NULL);
}

void release_anyhow(body *b)
{
    if (UNLOCK_USES_THREAD && is_nested())
        release_nested(b);
    else
        release(b);
}

void retire_anyhow(body *b)
{
    if (is_nested()) {
        char aside[aside_bytes()];
        put_aside(aside);
        retire(b);
        restore(aside);
        return;
    }
    if (LOCK_USES_THREAD)
        thread_begin();
    retire(b);
    if (LOCK_USES_THREAD)
        thread_end();
}
