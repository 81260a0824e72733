/* reentry.h - a signal handler that interrupted its own thread in a bucket of the parking lot
 *
 * A program that locks in a handler risks a deadlock on its own locks. Inside libpawl-<lock>.so the buckets are ours:
 * the program doesn't know of them, and must not deadlock on one. So a thread records which buckets it has locked. A
 * handler that needs one of these polls instead of queueing, or defers its work until the thread unlocks the bucket.
 * In libpawl itself all this is empty.
 */
#pragma once

#include "park/queue.h"

#include <time.h>

typedef void pawl_deferred(void *object);
typedef bool pawl_try(void *lock);

#ifdef PAWL_IN_PTHREAD_MUTEX

/* Around a bucket's critical section. The end does what handlers have deferred. */
void pawl_reentry_begin(pawl_bucket *b);
void pawl_reentry_end(void);

/* Whether the caller interrupted its own thread in the bucket of `key`. */
bool pawl_is_reentry(const volatile void *key);

/* Calls what(object) when the interrupted thread has left its buckets. */
void pawl_reentry_defer(pawl_deferred *what, void *object);

/* Retries every so often until it has the lock (0) or the deadline has passed (ETIMEDOUT). */
int pawl_reentry_poll(pawl_try *try, void *lock, int clock, const struct timespec *deadline);

#else

static inline void pawl_reentry_begin(pawl_bucket *b)
{
    (void)b;
}

static inline void pawl_reentry_end(void)
{
}

static inline bool pawl_is_reentry(const volatile void *key)
{
    (void)key;
    return false;
}

static inline void pawl_reentry_defer(pawl_deferred *what, void *object)
{
    (void)what, (void)object;
}

static inline int pawl_reentry_poll(pawl_try *try, void *lock, int clock, const struct timespec *deadline)
{
    (void)try, (void)lock, (void)clock, (void)deadline;
    return 0;
}

#endif
