/* queue.c - waiting in the queue of a condition variable
 *
 * A cancellation point, but only the system call is open to cancellation. If it strikes there, cancelled() leaves the
 * queue, or passes the signal on if it came first, and relocks the mutex before the program's cleanup handlers run.
 *
 * Compiled for each lock: over pawl_mutex a signalled waiter is requeued onto the mutex, and wakes when it gets to the
 * head of that queue.
 */
#include "wait.h"
#include "preload/mutex/lock.h"
#include "preload/fork/epoch.h"
#include "preload/glibc.h"
#include "preload/mutex/slow.h"

#include "src/cond.h"
#include "src/mutex.h"
#include "src/park/futex.h"
#include "src/park/hint.h"

enum { REQUEUES = LOCK_HAS(REQUEUE) };

/* ---- sleeping */

static int sleep_cancelable(cond_wait *w, uint32_t state, const struct timespec *deadline)
{
    int type;
    glibc()->setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    int result = pawl_futex_wait(&w->me.state, state, w->clock, deadline);
    glibc()->setcanceltype(type, NULL);
    return result;
}

static uint32_t state_of(const cond_wait *w)
{
    return atomic_load_explicit(&w->me.state, memory_order_acquire); /* F, of pawl_cond */
}

/* Otherwise `state` is what to sleep on. */
static bool is_signalled(const cond_wait *w, uint32_t *state)
{
    *state = w->requeues ? PAWL_COND_WAITING : state_of(w);
    return w->requeues ? !pawl_cond_is_in_queue(w->cond, &w->me) : *state == PAWL_COND_GO;
}

enum { IN_CHILD = -1 };

/* Whether a signal handler forked during the wait and this is the child. If so, it is in no queue any more. */
static bool is_in_child(cond_wait *w)
{
    if (PAWL_LIKELY(epoch_now() == w->epoch))
        return false;
    wait_forget(w->cond, &w->me);
    w->me.next = NULL; /* nobody to pass a broadcast on to */
    return true;
}

/* Until signalled (0), timed out and dequeued, or IN_CHILD. */
static int sleep_until_signalled(cond_wait *w)
{
    uint32_t state;
    bool signalled = pawl_cond_look(w->cond, &w->me);
    if (is_in_child(w))
        return IN_CHILD;
    while (!signalled && !is_signalled(w, &state)) {
        int result = sleep_cancelable(w, state, state == PAWL_COND_WAITING ? w->deadline : NULL);
        if (is_in_child(w))
            return IN_CHILD;
        if (result != 0 && pawl_cond_withdraw(w->cond, &w->me))
            return result;
    }
    return 0;
}

/* ---- afterwards */

static int relock(cond_wait *w, bool signalled)
{
    int error = 0;
    if (signalled && w->requeues && state_of(w) != PAWL_COND_GO) {
        pawl_mutex_wait((pawl_mutex *)w->mutex, &w->me, CLOCK_MONOTONIC, NULL);
        mutex_relocked(mutex_of(w->mutex), w->depth);
    } else {
        error = wait_relock(w);
    }
    wait_use_end(w);
    if (!w->requeues)
        pawl_cond_leave_call(&w->me);
    return error;
}

/* A waiter that was signalled before it was cancelled passes the signal on. By address: if nobody waits any more, the
 * condition variable may be gone, and is not touched. */
static void cancelled(void *argument)
{
    cond_wait *w = argument;
    wait_cancelled(w);
    bool signalled = !is_in_child(w) && !pawl_cond_withdraw(w->cond, &w->me);
    if (signalled && !w->requeues) {
        uint32_t state;
        while ((state = state_of(w)) != PAWL_COND_GO)
            pawl_futex_wait(&w->me.state, state, CLOCK_MONOTONIC, NULL);
    }
    relock(w, signalled);
    if (signalled)
        pawl_cond_signal_waiters(w->cond, false);
}

int wait_in_queue(cond_wait *w)
{
    w->epoch = epoch_now();
    w->requeues = REQUEUES && w->ours &&
                  w->call == NULL; /* what is counted is two waits: for a signal, for the mutex */
    wait_use_begin(w);
    w->me.slot = pawl_hint_slot();
    pawl_cond_enqueue(w->cond, &w->me, w->requeues ? (pawl_mutex *)w->mutex : NULL);
    int error = wait_unlock(w);
    if (error != 0) {
        if (!pawl_cond_withdraw(w->cond, &w->me))
            pawl_cond_signal_waiters(w->cond, false);
        return error; /* of glibc's, so that there is no use to end */
    }
    int result;
    pthread_cleanup_push(cancelled, w);
    result = sleep_until_signalled(w);
    pthread_cleanup_pop(0);
    wait_woken(w, result == 0);
    error = relock(w, result == 0);
    return error != 0 || result == IN_CHILD ? error : result; /* in a child, a spurious wake-up */
}
