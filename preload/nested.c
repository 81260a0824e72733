/* nested.c - locking in a signal handler that has interrupted locking
 *
 * What the thread keeps for its locks is put aside: a hapax is drawn anew, a queue node comes from the pool. The element
 * that it waits on may be in a queue already, so a handler does not wait in one but tries again. Hemlock's mailbox may
 * be full of the hand-over that was interrupted, so there is another one for handlers.
 */
#include "lock.h"

#include <pawl/nodes.h>

#include <time.h>

#ifdef PRELOAD_MUTEX
#define PRELOAD_LOCK none_of_the_register
#endif

static bool is_nested(void)
{
    return LOCK_USES_THREAD && self.ready == 0 && self.tid != 0;
}

typedef struct aside {
    uint64_t hapax;
    pawl_node *nodes;
    int8_t puts_left;
} aside;

static aside put_aside(void)
{
    aside a = {pawl_self.hapax, pawl_self.nodes, pawl_self.puts_left};
    pawl_self.hapax = 0;
    pawl_self.nodes = NULL;
    pawl_self.puts_left = INT8_MAX;
    return a;
}

static void restore(aside a)
{
    pawl_nodes_trim(0);
    pawl_self.hapax = a.hapax;
    pawl_self.nodes = a.nodes;
    pawl_self.puts_left = a.puts_left;
}

static void nap(void)
{
    struct timespec t = {0, 50000};
    nanosleep(&t, NULL);
}

/* ---- Hemlock's, of which all but one listing speak of one mailbox in the same way: see hemlock.h */

#define SPEAKS_hemlock         , true
#define SPEAKS_hemlock_naive   , true
#define SPEAKS_hemlock_overlap , true
#define SPEAKS_hemlock_oh1     , true
#define SPEAKS_hemlock_oh2     , true
enum { HAS_MAILBOX = PRELOAD_SAID(JOIN(SPEAKS_, PRELOAD_LOCK, )) };

static __thread pawl_word mailbox __attribute__((tls_model("initial-exec")));

static bool try_by_mailbox(pawl_word *tail)
{
    return pawl_cas_acq_rel(tail, 0, pawl_address(&mailbox)); /* A, D */
}

static void release_by_mailbox(pawl_word *tail)
{
    if (pawl_cas_release(tail, pawl_address(&mailbox), 0)) /* A */
        return;
    pawl_post(&mailbox, pawl_address(tail));                  /* B: publishes the critical section */
    pawl_wait_rmw_while_eq(&mailbox, pawl_address(tail));     /* C */
    atomic_store_explicit(&mailbox, 0, memory_order_relaxed); /* an announcement of `oh1` may have followed */
}

/* ---- any lock */

static bool try_nested(body *b)
{
    if (HAS_MAILBOX)
        return try_by_mailbox((pawl_word *)b);
    aside a = put_aside();
    bool taken = raw_try(b);
    restore(a);
    return taken;
}

static void release_nested(body *b)
{
    if (HAS_MAILBOX) {
        release_by_mailbox((pawl_word *)b);
        return;
    }
    aside a = put_aside();
    raw_release(b);
    restore(a);
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
    while (!try_nested(b))
        nap();
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
        aside a = put_aside();
        retire(b);
        restore(a);
        return;
    }
    if (LOCK_USES_THREAD)
        thread_begin();
    retire(b);
    if (LOCK_USES_THREAD)
        thread_end();
}
