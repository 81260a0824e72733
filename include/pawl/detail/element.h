/* element.h - what a thread waits on in the locks that stack or chain their waiters
 *
 * One is enough, because a thread waits for one lock at a time.
 */
#pragma once

#include "slice.h"

typedef struct pawl_element {
    pawl_word gate;   /* 0 while the thread must wait                                      */
    pawl_word next;   /* the element behind this one, or what its predecessor passes along */
    const void *lock; /* hemlock_chain: the lock being waited for                          */
} pawl_element;

/* No trylock uses it: see slice.h. */
PAWL_SHARED_SLICE(element, pawl_element, .child = PAWL_KEPT);
