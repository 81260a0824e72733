/* cond.h - condition variable over any lock of Pawl
 *
 * Admission   FIFO: signal wakes the thread that has waited longest
 * Bypass      0 among those that wait
 * Space       1 word, none per thread; a queue of waiters in a process-wide table
 * Unlock      signal and broadcast do not touch it after the first waiter may run, and a waiter that was
 *             signalled never does: it may be destroyed as soon as nobody will wait for it any more
 * Waiting     asleep. Broadcast wakes one thread at most: over pawl_mutex the others join the mutex's queue,
 *             over any other lock each wakes the next once it has its lock
 * Sharing     by threads of one process
 * Differs     from POSIX: a wait does not return for no reason, and a timed wait that takes a signal says so
 *
 *   pawl_cond_wait(&cond, &mutex)                      pawl_mutex
 *   pawl_cond_wait_fair(&cond, &fairmutex)             pawl_fairmutex
 *   PAWL_COND_WAIT(&cond, mcs, &lock, &context)        pawl_mcs, and so for every lock of the register
 *   pawl_cond_wait_any(&cond, lock, unlock, l, c)      anything
 *
 * The lock is held when a wait begins and when it returns, whatever it returns. Waits of one time on one
 * condition variable use one lock. All-zero bytes are a condition variable nobody waits for.
 */
#pragma once

#include "fairmutex.h"
#include "mutex.h"
#include "detail/sleeper.h"

typedef struct pawl_cond {
    _Atomic(uint32_t) waiters;
    uint32_t unused;
} pawl_cond;

#define PAWL_COND_INIT                                                                                       \
    {                                                                                                        \
        0, 0                                                                                                 \
    }

#ifdef __cplusplus
extern "C" {
#endif

void pawl_cond_signal_waiters(pawl_cond *c, bool all);

/* Timed waits return 0 if they were signalled, ETIMEDOUT if not until the deadline, or EINVAL at once if the
 * clock is not CLOCK_MONOTONIC or CLOCK_REALTIME, or the deadline is no time. */
void pawl_cond_wait(pawl_cond *c, pawl_mutex *m);
int pawl_cond_clockwait(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline);

void pawl_cond_wait_fair(pawl_cond *c, pawl_fairmutex *m);
int pawl_cond_clockwait_fair(pawl_cond *c, pawl_fairmutex *m, int clock, const struct timespec *deadline);

/* For any lock: `unlock(l, ctx)` and `lock(l, ctx)` are called in between, with the context of the lock that
 * is held. */
typedef void pawl_cond_call(void *lock, void *ctx);
void pawl_cond_wait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock, void *l, void *ctx);
int pawl_cond_clockwait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock, void *l, void *ctx,
                            int clock, const struct timespec *deadline);

/* A wait in its parts: enter, unlock, sleep, lock, leave. A null deadline is none. Enter fails with EINVAL.
 */
int pawl_cond_enter(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline);
int pawl_cond_sleep(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline);
void pawl_cond_leave(pawl_sleeper *w);

#ifdef __cplusplus
}
#endif

/* The same with CLOCK_REALTIME, as pthread_cond_timedwait() has it. */
static inline int pawl_cond_timedwait(pawl_cond *c, pawl_mutex *m, const struct timespec *deadline)
{
    return pawl_cond_clockwait(c, m, 0, deadline);
}

/* Wakes the thread that has waited longest, if any. A waiter was counted before it let go of the lock under
 * which the caller changed what it waits for, so it is seen here. G: if there is none, this comes after whatever
 * the last one did, which is all that its end by a timeout leaves to be ordered before a destruction. */
static inline void pawl_cond_signal(pawl_cond *c)
{
    if (atomic_load_explicit(&c->waiters, memory_order_acquire) != 0) /* G */
        pawl_cond_signal_waiters(c, false);
}

/* Ends the wait of all threads that wait now. */
static inline void pawl_cond_broadcast(pawl_cond *c)
{
    if (atomic_load_explicit(&c->waiters, memory_order_acquire) != 0) /* G */
        pawl_cond_signal_waiters(c, true);
}

#ifdef PAWL_WATCHED
#include "watch_cond.h"
#define pawl_cond_wait           pawl_cond_watched_wait
#define pawl_cond_clockwait      pawl_cond_watched_clockwait
#define pawl_cond_timedwait      pawl_cond_watched_timedwait
#define pawl_cond_wait_fair      pawl_cond_watched_wait_fair
#define pawl_cond_clockwait_fair pawl_cond_watched_clockwait_fair
#define pawl_cond_wait_any       pawl_cond_watched_wait_any
#define pawl_cond_clockwait_any  pawl_cond_watched_clockwait_any
#define pawl_cond_enter          pawl_cond_watched_enter
#define pawl_cond_sleep          pawl_cond_watched_sleep
#define pawl_cond_leave          pawl_cond_watched_leave
#define pawl_cond_signal         pawl_cond_watched_signal
#define pawl_cond_broadcast      pawl_cond_watched_broadcast
#endif

#define PAWL_COND_CLOCKWAIT(cond, name, lock, ctx, clock, deadline)                                          \
    __extension__({                                                                                          \
        pawl_sleeper pawl_w_;                                                                                \
        int pawl_r_ = pawl_cond_enter(cond, &pawl_w_, clock, deadline);                                      \
        if (pawl_r_ == 0) {                                                                                  \
            pawl_##name##_unlock(lock, ctx);                                                                 \
            pawl_r_ = pawl_cond_sleep(cond, &pawl_w_, clock, deadline);                                      \
            pawl_##name##_lock(lock, ctx);                                                                   \
            pawl_cond_leave(&pawl_w_);                                                                       \
        }                                                                                                    \
        pawl_r_;                                                                                             \
    })

#define PAWL_COND_WAIT(cond, name, lock, ctx) ((void)PAWL_COND_CLOCKWAIT(cond, name, lock, ctx, 0, NULL))
