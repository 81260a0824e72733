/* cond.h - condition variable over any lock of Pawl
 *
 * Admission   FIFO: signal wakes the thread that has waited longest
 * Bypass      0 among those that sleep; one that has not slept yet may lock before them
 * Space       1 word, none per thread; a queue of waiters in a process-wide table
 * Unlock      signal and broadcast do not touch it once the first waiter may run, and a signalled waiter never does:
 *             it may be destroyed as soon as nobody will wait on it again
 * Waiting     yields a few times, then sleeps. Broadcast wakes one sleeper at most: over
 *             pawl_mutex the others are requeued to the mutex, over any other lock each wakes the next once it has its
 *             lock
 * Sharing     by threads of one process
 * Differs     from POSIX: a wait never returns without a reason, and a timed wait that takes a signal says so
 *
 *   pawl_cond_wait(&cond, &mutex)                      pawl_mutex
 *   pawl_cond_wait_fair(&cond, &fairmutex)             pawl_fairmutex
 *   PAWL_COND_WAIT(&cond, mcs, &lock, &context)        pawl_mcs; any other lock of the register likewise
 *   pawl_cond_wait_any(&cond, lock, unlock, l, c)      anything
 *
 * The lock is held when a wait begins and when it returns, whatever it returns. Concurrent waiters must use the same
 * lock. All-zero bytes are a condition variable that nobody waits on.
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

/* The slow halves of the functions below; other languages may call them. */
void pawl_cond_wait_call(pawl_cond *c, pawl_mutex *m);
int pawl_cond_clockwait_call(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline);
int pawl_cond_enter_call(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline);
int pawl_cond_sleep_call(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline);
void pawl_cond_leave_call(pawl_sleeper *w);
void pawl_cond_signal_waiters(pawl_cond *c, bool all);

#ifdef __cplusplus
}
#endif

/* ---- with a pawl_mutex
 *
 * The library unlocks and locks. Hooks report the release before the call, and the acquisition after it: no code of
 * the program runs in between. */

PAWL_HOOK void pawl_hook_waiting(pawl_mutex *m)
{
    unsigned how = PAWL_HOW_OF(m->held);
    pawl_hook_unlocking(m, "pawl_mutex", how);
    pawl_hook_unlocked(m);
    pawl_hook_locking(m, "pawl_mutex", how & ~(unsigned)PAWL_HOW_HELD);
}

/* The signal happens before the wait that it ends, so that a waiter may destroy the condition variable. */
PAWL_HOOK void pawl_hook_waited(pawl_cond *c, pawl_mutex *m)
{
    (void)c;
    pawl_hook_locked(m, "pawl_mutex", PAWL_HOW_OBLIVIOUS);
    PAWL_TSAN(__tsan_acquire(c));
}

PAWL_HOOK void pawl_cond_wait(pawl_cond *c, pawl_mutex *m)
{
    pawl_hook_waiting(m);
    pawl_cond_wait_call(c, m);
    pawl_hook_waited(c, m);
}

/* 0 if signalled; ETIMEDOUT if not by the deadline; EINVAL at once if the clock is not CLOCK_MONOTONIC or
 * CLOCK_REALTIME, or the deadline is invalid. */
PAWL_HOOK int pawl_cond_clockwait(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline)
{
    pawl_hook_waiting(m);
    int result = pawl_cond_clockwait_call(c, m, clock, deadline);
    pawl_hook_waited(c, m);
    return result;
}

/* The same with CLOCK_REALTIME, like pthread_cond_timedwait(). */
PAWL_HOOK int pawl_cond_timedwait(pawl_cond *c, pawl_mutex *m, const struct timespec *deadline)
{
    return pawl_cond_clockwait(c, m, 0, deadline);
}

/* ---- with any lock
 *
 * A wait in its parts: enter, unlock, sleep, lock, leave. A null deadline means none. Enter may fail, with EINVAL. */

PAWL_HOOK int pawl_cond_enter(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    pawl_hook_quiet();
    int result = pawl_cond_enter_call(c, w, clock, deadline);
    pawl_hook_loud();
    return result;
}

PAWL_HOOK int pawl_cond_sleep(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    pawl_hook_quiet();
    int result = pawl_cond_sleep_call(c, w, clock, deadline);
    pawl_hook_loud();
    pawl_hook_received(c);
    return result;
}

PAWL_HOOK void pawl_cond_leave(pawl_sleeper *w)
{
    pawl_hook_quiet();
    pawl_cond_leave_call(w);
    PAWL_TELL(pawl_debug_clean(w, sizeof *w));
    pawl_hook_loud();
}

/* `unlock` and `lock` are expressions. */
#define PAWL_COND_PARTS(cond, unlock, lock, clock, deadline)                                                 \
    __extension__({                                                                                          \
        pawl_sleeper pawl_w_;                                                                                \
        int pawl_r_ = pawl_cond_enter(cond, &pawl_w_, clock, deadline);                                      \
        if (pawl_r_ == 0) {                                                                                  \
            unlock;                                                                                          \
            pawl_r_ = pawl_cond_sleep(cond, &pawl_w_, clock, deadline);                                      \
            lock;                                                                                            \
            pawl_cond_leave(&pawl_w_);                                                                       \
        }                                                                                                    \
        pawl_r_;                                                                                             \
    })

#define PAWL_COND_CLOCKWAIT(cond, name, lock, ctx, clock, deadline)                                          \
    PAWL_COND_PARTS(cond, pawl_##name##_unlock(lock, ctx), pawl_##name##_lock(lock, ctx), clock, deadline)

#define PAWL_COND_WAIT(cond, name, lock, ctx) ((void)PAWL_COND_CLOCKWAIT(cond, name, lock, ctx, 0, NULL))

PAWL_HOOK int pawl_cond_clockwait_fair(pawl_cond *c, pawl_fairmutex *m, int clock,
                                       const struct timespec *deadline)
{
    return PAWL_COND_PARTS(c, pawl_fairmutex_unlock(m), pawl_fairmutex_lock(m), clock, deadline);
}

PAWL_HOOK void pawl_cond_wait_fair(pawl_cond *c, pawl_fairmutex *m)
{
    pawl_cond_clockwait_fair(c, m, 0, NULL);
}

/* The wait calls `unlock(l, ctx)` and then `lock(l, ctx)`; `ctx` is the context of the held lock. */
typedef void pawl_cond_call(void *lock, void *ctx);

PAWL_HOOK int pawl_cond_clockwait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock, void *l,
                                      void *ctx, int clock, const struct timespec *deadline)
{
    return PAWL_COND_PARTS(c, unlock(l, ctx), lock(l, ctx), clock, deadline);
}

PAWL_HOOK void pawl_cond_wait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock, void *l,
                                  void *ctx)
{
    pawl_cond_clockwait_any(c, lock, unlock, l, ctx, 0, NULL);
}

/* ---- signals
 *
 * A waiter counts itself before it releases the lock, and the caller changed what it waits for under that lock: so
 * the load sees it. G: if nobody waits, this comes after all that the last waiter did. A wait that timed out leaves
 * nothing else to order it before a destruction. */

static inline void pawl_cond_wake(pawl_cond *c, bool all)
{
    if (atomic_load_explicit(&c->waiters, memory_order_acquire) != 0) /* G */
        pawl_cond_signal_waiters(c, all);
}

/* Wakes the thread that has waited longest, if any. */
PAWL_HOOK void pawl_cond_signal(pawl_cond *c)
{
    pawl_hook_sending(c);
    pawl_hook_quiet();
    pawl_cond_wake(c, false);
    pawl_hook_loud();
}

/* Ends the waits of all current waiters. */
PAWL_HOOK void pawl_cond_broadcast(pawl_cond *c)
{
    pawl_hook_sending(c);
    pawl_hook_quiet();
    pawl_cond_wake(c, true);
    pawl_hook_loud();
}
