/* word.h - parking on a word of any lock, below the verbs of wait.h */
#pragma once

#include "queue.h"

#include <pawl/detail/wait.h>

/* Where those sleep that wait for these posts to `w`, and as what kind of sleeper. */
typedef struct pawl_place {
    pawl_bucket *bucket;
    uint32_t kind;
} pawl_place;

pawl_place pawl_place_of(const volatile void *w, uint32_t which);

/* One step towards sleep, and a look by the caller between any two: the first announces the waiter, the second sleeps
 * until a post to `w` that is one of `which`, or for no reason; briefly: for a millisecond at most. */
void pawl_park(pawl_waiter *me, pawl_word *w, uint32_t which, bool briefly);

/* From now on every post of every word goes through pawl_unpark(), which fences; or none does because of that. */
void pawl_parked_fence(bool fence);

/* For tests: threads that are parked, or about to be. */
unsigned pawl_parked_threads(void);
