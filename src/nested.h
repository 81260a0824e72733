/* nested.h - a signal handler that comes while its own thread holds the lock of a bucket
 *
 * A handler that locks is the program's risk, except inside libpawl-<lock>.so: there it must not deadlock on a table that
 * the program does not know of. So a thread knows which buckets it holds. A handler that needs one of them tries in
 * another way, or leaves the work to the thread that it has interrupted, which does it once it has let go. Elsewhere
 * nothing of this exists.
 */
#pragma once

#include "park/queue.h"

#include <time.h>

typedef void pawl_later(void *object);
typedef bool pawl_try(void *lock);

#ifdef PAWL_IN_PTHREAD_MUTEX

/* Around the lock of a bucket; the end does what was left for later. */
void pawl_nested_begin(pawl_bucket *b);
void pawl_nested_end(void);

/* Whether the calling thread is in the middle of something in the bucket of `key`. */
bool pawl_nested_in(const volatile void *key);
void pawl_nested_later(pawl_later *what, void *object);

/* Instead of queueing up: tries every so often. 0 once it was taken, or ETIMEDOUT. */
int pawl_nested_take(pawl_try *take, void *lock, int clock, const struct timespec *deadline);

#else

static inline void pawl_nested_begin(pawl_bucket *b)
{
    (void)b;
}

static inline void pawl_nested_end(void)
{
}

static inline bool pawl_nested_in(const volatile void *key)
{
    (void)key;
    return false;
}

static inline void pawl_nested_later(pawl_later *what, void *object)
{
    (void)what, (void)object;
}

static inline int pawl_nested_take(pawl_try *take, void *lock, int clock, const struct timespec *deadline)
{
    (void)take, (void)lock, (void)clock, (void)deadline;
    return 0;
}

#endif
