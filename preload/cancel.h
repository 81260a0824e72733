/* cancel.h - threads that may be cancelled at any instruction
 *
 * A thread cancelled while it waits for a glibc mutex just goes. Ours may stand in a queue, and taking it out of there
 * by force would strand the threads behind it. So the library knows the threads of asynchronous cancellation type. The
 * first one switches the fast paths off for the process; the slow paths hold cancellation off and allow it only at
 * instants when nothing is half done.
 */
#pragma once

#include "preload/fork/epoch.h"
#include "glibc.h"

#include <pthread.h>

/* Returns whether there was something to hold off. If so, cancel_allow(true) must follow: cancellation may strike
 * there. */
static inline bool cancel_hold_off(void)
{
    int before = PTHREAD_CANCEL_DEFERRED;
    if (PAWL_UNLIKELY(self.async))
        glibc()->setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    return before ==
           PTHREAD_CANCEL_ASYNCHRONOUS; /* not if a caller, or the code a handler interrupted, holds off */
}

static inline void cancel_allow(bool held_off)
{
    if (PAWL_UNLIKELY(held_off))
        glibc()->setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}
