/* word.h - parking on a word of any lock, beneath wait.h */
#pragma once

#include "queue.h"

#include <pawl/detail/wait.h>

#include <time.h>

/* Where threads sleep that wait for these posts to `w`, and as what kind of sleeper. */
typedef struct pawl_place {
    pawl_bucket *bucket;
    uint32_t kind;
} pawl_place;

pawl_place pawl_place_of(const volatile void *w, uint32_t which);

/* One step towards sleep; the caller looks at the word between any two. The first announces the waiter, the second
 * sleeps until one of the posts `which` to `w`, and may end early; `briefly`: after a millisecond at most. */
void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly);

/* The same; sleeps until the deadline at most. NULL: no deadline. */
void pawl_park_until(pawl_waiter *me, pawl_word *w, uint32_t which, int clock,
                     const struct timespec *deadline);

/* From now on every post goes through pawl_unpark(), which fences; or, if false, only posts that have sleepers do. */
void pawl_parked_fence(bool fence);
/* Whether that has begun. */
bool pawl_parked_is_fenced(void);

/* For tests: threads that are parked, or about to be. */
unsigned pawl_parked_threads(void);
