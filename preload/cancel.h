/* cancel.h - threads that may be cancelled at any instruction
 *
 * glibc's mutexes bear it where a thread waits: it goes, and nothing is left behind. Ours have queues, and a thread that
 * vanishes from one takes the next with it. So the library knows the threads of asynchronous type: the first of them
 * switches the fast paths off, and on the slow ones cancellation is held off but for some instants in which nothing is
 * half done.
 */
#pragma once

#include "preload/fork/era.h"
#include "glibc.h"

#include <pthread.h>

/* True if it was not off before; then cancel_allow(true) must follow. That one is where a cancellation may strike. */
static inline bool cancel_hold_off(void)
{
    int before = PTHREAD_CANCEL_DEFERRED; /* as it is where a handler has interrupted such a section */
    if (PAWL_UNLIKELY(self.async))
        glibc()->setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    return before == PTHREAD_CANCEL_ASYNCHRONOUS;
}

static inline void cancel_allow(bool held_off)
{
    if (PAWL_UNLIKELY(held_off))
        glibc()->setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}
