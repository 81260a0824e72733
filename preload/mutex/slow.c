/* slow.c - the slow paths of pthread_mutex_*
 *
 * pthread.c locks a normal mutex of this process in place, a recursive one, too, and any type while a profile is made. All
 * others come here: those never used yet or last used before a fork, those a signal handler locks in the middle of a lock
 * operation, and every mutex while `--stats` times everything, debug mode is on, or a thread may be cancelled asynchronously.
 *
 * The walk of a lock call, from the program to the lock's own text. tests/preload/walk.py follows it.
 *
 *   pthread_mutex_lock     pthread.c   the fast path does not apply
 *   1  lock_slowly         pthread.c   passes glibc's kinds on to glibc
 *   2  mutex_lock          slow.c      holds cancellation off, adopts the mutex after a fork, counts relocks
 *   3  acquire             slow.c      sets the owner, tells debug mode and statistics
 *   4  wait_for            slow.c      chooses: the lock's queue, with a deadline (timed.c), or in a handler (reentry.c)
 *   5  lock_acquire        lock.h      marks the thread as inside the lock, stores the context in the mutex
 *   6  pawl_X_acquire      include/pawl/X.h
 */
#include "slow.h"
#include "lock.h"
#include "preload/cancel.h"
#include "reentry.h"
#include "src/debug.h"

#include <errno.h>

static bool is_mine(const mutex *m)
{
    return is_my_tid(owner_of(m), meta_of(m));
}

static uint32_t depth_of(const mutex *m)
{
    return meta_of(m) & META_DEPTH;
}

/* By the owner. May lose a flag that another thread sets at the same time; that thread sets it again. */
static void set_depth(mutex *m, uint32_t depth)
{
    atomic_store_explicit(&m->meta, (meta_of(m) & ~(uint32_t)META_DEPTH) | depth, memory_order_relaxed);
}

/* ---- for debug mode */

#define KIND "pthread_mutex_t"

/* OBLIVIOUS: POSIX forbids that another thread unlocks, but glibc allows it and programs do it. */
static unsigned how(const mutex *m)
{
    return PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (owner_of(m) != 0 ? PAWL_HOW_HELD : 0);
}

static unsigned how_asked(const mutex *m, const request *r)
{
    return how(m) | (!r->waits || r->deadline != NULL ? PAWL_HOW_TRY : 0);
}

/* ---- for statistics */

static stats_call *begin_count(stats_call *mine, const request *r)
{
    stats_not_asked(mine);
    return r->call != NULL ? r->call : mine;
}

/* Of a call that failed. */
static void end_count(stats_call *call, const request *r, int error)
{
    if (call != NULL && r->call == NULL)
        stats_failed(call, error == ETIMEDOUT);
}

/* ---- locking */

static int wait_for(mutex *m, const request *r)
{
    if (r->deadline != NULL)
        return acquire_until(m, r->clock, r->deadline);
    /* Relocking your own normal mutex must hang, not enqueue the same element twice. And if unlock can't hand off to a
     * timed waiter, newcomers wait behind it. */
    if (!LOCK_IS_OBLIVIOUS && (is_mine(m) || (meta_of(m) & META_TIMED)))
        return acquire_until(m, CLOCK_MONOTONIC, NULL);
    if (is_reentry())
        acquire_in_handler(m);
    else
        lock_acquire(m);
    return 0;
}

/* `call`: null if nothing is counted; inline, so that this costs nothing then. */
__attribute__((always_inline)) static inline int acquire(mutex *m, const request *r, stats_call *call)
{
    if (PAWL_UNLIKELY(pawl_debug_on))
        pawl_debug_locking(m, KIND, how_asked(m, r));
    int error = 0;
    if (call != NULL) {
        stats_ask_once(call, m, r->site);
        call->relocks = r->relocks;
    }
    bool tries = !r->waits || r->deadline != NULL || call != NULL;
    if (!tries || !reentrant_try(m)) {
        if (call != NULL && r->waits)
            stats_wait_once(call);
        error = r->waits ? wait_for(m, r) : EBUSY;
        if (call != NULL && !r->waits)
            stats_refused(call);
        if (error != 0)
            end_count(call, r, error);
    }
    if (error == 0)
        set_owner(m, self.tid);
    if (error == 0 && call != NULL)
        stats_acquired(call);
    if (PAWL_LIKELY(!pawl_debug_on))
        return error;
    if (error == 0)
        pawl_debug_locked(m, KIND, how_asked(m, r));
    else
        pawl_debug_not_locked(m);
    return error;
}

/* By the owner of a recursive or error-checking mutex. */
static int relock(mutex *m, const request *r, stats_call *call)
{
    if (type_of(m) == KIND_ERRORCHECK) {
        if (call != NULL && !r->waits) {
            stats_ask_once(call, m, r->site);
            stats_refused(call);
        }
        return r->waits ? EDEADLK : EBUSY;
    }
    uint32_t depth = depth_of(m);
    if (depth == META_DEPTH)
        return EAGAIN;
    set_depth(m, depth + 1);
    return 0;
}

__attribute__((noinline)) static int lock_counted(mutex *m, const request *r)
{
    stats_call call, *counted = begin_count(&call, r);
    int error = adopt(m, r, counted);
    if (error == 0)
        return is_checked(m) && is_mine(m) ? relock(m, r, counted) : acquire(m, r, counted);
    end_count(counted, r, error);
    return error;
}

int mutex_lock(mutex *m, const request *r)
{
    bool held_off = cancel_hold_off();
    if (PAWL_UNLIKELY(held_off) && r->waits)
        return lock_cancelable(m, r);
    int before = errno;
    int error;
    if (PAWL_UNLIKELY(stats_on))
        error = lock_counted(m, r);
    else if ((error = adopt(m, r, NULL)) == 0)
        error = is_checked(m) && is_mine(m) ? relock(m, r, NULL) : acquire(m, r, NULL);
    errno = before;
    cancel_allow(held_off);
    return error;
}

/* ---- unlocking */

/* Whether the caller is to release the lock. glibc's mutex bears an unlock when nobody holds it, and two at the same
 * time; most locks bear neither. */
static bool disown(mutex *m)
{
    uint32_t owner = owner_of(m);
    return owner != 0 && (LOCK_IS_OBLIVIOUS || is_my_tid(owner, meta_of(m))) &&
           atomic_compare_exchange_strong_explicit(&m->owner, &owner, 0, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void release(mutex *m)
{
    if (PAWL_UNLIKELY(pawl_debug_on))
        pawl_debug_unlocking(m, KIND, how(m));
    if (disown(m)) {
        if (stats_on)
            stats_released(m, STATS_MUTEX);
        if (PAWL_UNLIKELY(meta_of(m) & META_TIMED))
            release_or_hand_off(m);
        else
            reentrant_release(m);
    }
    if (PAWL_UNLIKELY(pawl_debug_on))
        pawl_debug_unlocked(m);
}

int mutex_unlock(mutex *m)
{
    bool held_off = cancel_hold_off();
    int error = adopt_to_unlock(m);
    if (error == 0 && (is_checked(m) || !LOCK_IS_OBLIVIOUS) && !is_mine(m))
        error = EPERM;
    if (error == 0 && depth_of(m) > 0)
        set_depth(m, depth_of(m) - 1);
    else if (error == 0)
        release(m);
    cancel_allow(held_off);
    return error;
}

/* ---- for a condition variable */

int mutex_check_wait(mutex *m)
{
    int error = adopt_to_unlock(m);
    return error == 0 && is_checked(m) && !is_mine(m) ? EPERM : error;
}

uint32_t mutex_unlock_all(mutex *m)
{
    adopt_to_unlock(m); /* once more: a handler may have forked since the check */
    uint32_t depth = depth_of(m);
    if (depth > 0)
        set_depth(m, 0);
    if (is_mine(m)) /* a normal mutex may be free, or another thread's, who may be about to unlock it */
        release(m);
    return depth;
}

void mutex_relocked(mutex *m, uint32_t depth)
{
    set_owner(m, self.tid);
    set_depth(m, depth);
    if (PAWL_UNLIKELY(pawl_debug_on))
        pawl_debug_wait_end(m, KIND);
}

void mutex_relock(mutex *m, uint32_t depth, const void *site)
{
    request r = {.site = site, .waits = true, .relocks = true};
    stats_call call, *counted = stats_on ? begin_count(&call, &r) : NULL;
    adopt(m, &r, counted);
    acquire(m, &r, counted);
    set_depth(m, depth);
}
