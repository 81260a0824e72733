/* reentry.h - a signal handler that interrupted its own thread in a bucket of the parking lot
 *
 * A program that locks in a handler risks a deadlock on its own locks. Inside libpawl-<lock>.so the buckets are ours:
 * the program doesn't know of them, and must not deadlock on one. So a thread records which buckets it has locked. A
 * handler that needs one of these polls instead of queueing, or defers its work until the thread unlocks the bucket.
 * The handler may also fork. The child's buckets are empty, but its thread goes on in the middle of one, with pointers to
 * waiters that exist in the parent only. So what it leaves in the bucket is thrown away when it unlocks it.
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

/* In a child, called by the thread that forked. */
void pawl_reentry_fork(void);

/* A number that changes when this thread comes through a fork. */
uint8_t pawl_reentry_forks(void);

/* Whether it has done so in the bucket that it entered last. */
bool pawl_reentry_has_forked(void);

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

static inline void pawl_reentry_fork(void)
{
}

static inline uint8_t pawl_reentry_forks(void)
{
    return 0;
}

static inline bool pawl_reentry_has_forked(void)
{
    return false;
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
