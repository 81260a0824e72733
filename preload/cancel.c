/* cancel.c - threads that may be cancelled at any instruction: who they are, and how they wait for a mutex */
#include "cancel.h"
#include "preload/mutex/slow.h"

#include "src/park/futex.h"

#include <errno.h>

EXPORT int pthread_setcanceltype(int type, int *before)
{
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS) { /* first: cancellation may strike at once */
        disable_fast_paths();
        self.async = true;
    }
    int error = glibc()->setcanceltype(type, before);
    if (type == PTHREAD_CANCEL_DEFERRED)
        self.async = false;
    return error;
}
OF_LIBC(pthread_setcanceltype);

/* ---- locking
 *
 * The thread waits in slices, each longer than the last. Between two slices it is in no queue and may be cancelled. */

enum { SHORTEST = 10000000, LONGEST = 640000000 }; /* nanoseconds */

typedef struct attempt {
    mutex *mutex;
    bool locked;
    bool counted;    /* in the statistics, and has not ended */
    stats_call call; /* all slices are one */
} attempt;

static int lock_in_slices(attempt *a, const request *r)
{
    request slice = *r;
    slice.call = a->counted ? &a->call : NULL;
    slice.clock = r->deadline != NULL ? r->clock : CLOCK_MONOTONIC;
    bool last = r->deadline != NULL && pawl_deadline_check(r->clock, r->deadline) != 0;
    for (long length = SHORTEST;; length = length < LONGEST ? length * 2 : LONGEST) {
        struct timespec end = pawl_from_now(slice.clock, length);
        last = last || (r->deadline != NULL && !pawl_is_before(&end, r->deadline));
        slice.deadline = last ? r->deadline : &end;
        int error = mutex_lock(a->mutex, &slice);
        a->locked = error == 0;
        if (error != ETIMEDOUT || last)
            return error;
        cancel_allow(true);
        cancel_hold_off();
    }
}

/* Not inlined: unlock_again() reads what it writes, after a longjmp(). */
__attribute__((noinline)) static int lock_as_one_call(attempt *a, const request *r)
{
    a->counted = stats_on;
    int error = lock_in_slices(a, r);
    if (a->counted && error != 0)
        stats_failed(&a->call, error == ETIMEDOUT);
    a->counted = false;
    return error;
}

/* A thread cancelled in its wait does not have the mutex, as with glibc. The canceller may have unlocked it since. */
static void unlock_again(void *argument)
{
    attempt *a = argument;
    if (a->locked)
        mutex_unlock(a->mutex);
    else if (a->counted)
        stats_failed(&a->call, false);
}

int lock_cancelable(mutex *m, const request *r)
{
    attempt a = {.mutex = m}; /* and a call that has not asked */
    int error;
    pthread_cleanup_push(unlock_again, &a);
    error = lock_as_one_call(&a, r);
    cancel_allow(true);
    pthread_cleanup_pop(0);
    return error;
}
