/* lock.h - the lock of this library, inside a pthread_mutex_t
 *
 * A library is built for one lock of the register: PRELOAD_LOCK, PRELOAD_FORM and PRELOAD_ROOM are its first columns.
 * The lock's context is kept in the mutex: written by the new owner after it has the lock, read before unlock. Waiters have
 * theirs on the stack.
 */
#pragma once

#include "preload/fork/epoch.h"
#include "preload/place/fits.h"

#include <sys/single_threaded.h>

#define JOIN_(a, b, c)            a##b##c
#define JOIN(a, b, c)             JOIN_(a, b, c)
#define PRELOAD_SECOND(a, b, ...) b
#define PRELOAD_SAID(...)         PRELOAD_SECOND(__VA_ARGS__, false, false)

/* ---- what the register says of it */

#define PAWL_LOCK(name, form, room, ...)                                                                     \
    static const pawl_lock_info LOCK_##name __attribute__((unused)) = {__VA_ARGS__};
#include <pawl/locks.def>
#undef PAWL_LOCK
#define LOCK JOIN(LOCK_, PRELOAD_LOCK, )

#define LOCK_HAS(what)        PAWL_HAS(PRELOAD_FORM, what)
#define LOCK_HAS_NODES        (LOCK.held_bytes + LOCK.idle_bytes > 0)
#define LOCK_IS_OBLIVIOUS     (LOCK.oblivious || LOCK_HAS(OBLIVIOUS))
#define LOCK_BEARS_ANY_UNLOCK LOCK.any_unlock
#define LOCK_USES_THREAD      (LOCK.thread_bytes > 0 || LOCK_HAS_NODES)
/* Of those that keep something with the thread, most do it for locking only. */
#define UNLOCK_USES_THREAD (LOCK_USES_THREAD && (LOCK_HAS_NODES || !LOCK_IS_OBLIVIOUS))
/* pawl_thread_leave() has something to do. */
#define LOCK_MINDS_EXIT (LOCK.minds_exit || LOCK_HAS_NODES)

/* ---- where it is, and its functions */

#define CTX_OF_(name, form)               PAWL_CTX_OF(name, form)
#define CALL_(name, form, function, m, c) PAWL_CALL(name, form, function, lock_in(m), c)
#define CALL(function, m, c)              CALL_(PRELOAD_LOCK, PRELOAD_FORM, function, m, c)
#define WORD(m)                           JOIN(pawl_, PRELOAD_LOCK, _word)(lock_in(m))

/* What suits a mutex better, where there is a choice: another thread may unlock it, and a mutex of which the destructor
 * does nothing, as std::mutex's, leaves nothing behind. */
#define LOCKING   PAWL_IF(PRELOAD_FORM, OBLIVIOUS, acquire_oblivious, acquire)
#define UNLOCKING PAWL_IF(PRELOAD_FORM, IDLE, release_idle, release)

typedef JOIN(pawl_, PRELOAD_LOCK, ) lock;
typedef CTX_OF_(PRELOAD_LOCK, PRELOAD_FORM) lock_ctx;

enum {
    LOCK_AT = PRELOAD_LOCK_AT(PRELOAD_ROOM, sizeof(lock)),
    CTX_AT = PRELOAD_CTX_AT(PRELOAD_ROOM, sizeof(lock), sizeof(lock_ctx)),
};
_Static_assert(LOCK_AT >= 0 && CTX_AT >= 0, "the lock fits");

static inline lock *lock_in(mutex *m)
{
    return (lock *)((char *)m + LOCK_AT);
}

static inline lock_ctx *ctx_in(mutex *m)
{
    return (lock_ctx *)((char *)m + CTX_AT);
}

static inline void keep(mutex *m, const lock_ctx *c)
{
    if (!__builtin_types_compatible_p(lock_ctx, pawl_no_ctx))
        *ctx_in(m) = *c;
}

/* A process with one thread needs no atomics. glibc's mutex does without them, and we are compared with it. */
static inline bool change_alone(mutex *m, unsigned from, unsigned to)
{
#if PAWL_IF(PRELOAD_FORM, DEADLINE, 1, 0)
    if (!__libc_single_threaded || atomic_load_explicit(WORD(m), memory_order_relaxed) != from)
        return false;
    atomic_store_explicit(WORD(m), to, memory_order_relaxed);
    return true;
#else
    (void)m, (void)from, (void)to;
    return false;
#endif
}

static inline void lock_acquire(mutex *m)
{
    lock_ctx c;
    if (change_alone(m, 0, 1))
        return;
    operation_begin(LOCK_USES_THREAD);
    CALL(LOCKING, m, &c);
    keep(m, &c);
    operation_end(LOCK_USES_THREAD);
}

static inline bool raw_try(mutex *m)
{
    lock_ctx c;
    if (!CALL(try_acquire, m, &c))
        return false;
    keep(m, &c);
    return true;
}

static inline void raw_release(mutex *m)
{
    if (change_alone(m, 1, 0))
        return;
    lock_ctx c = *ctx_in(m);
    CALL(UNLOCKING, m, &c);
}

#if PAWL_IF(PRELOAD_FORM, DEADLINE, 1, 0)

static inline int acquire_until(mutex *m, int clock, const struct timespec *deadline)
{
    return JOIN(pawl_, PRELOAD_LOCK, _clocklock)(lock_in(m), clock, deadline);
}

static inline void release_or_hand_off(mutex *m)
{
    raw_release(m);
}

#else

/* timed.c */
int acquire_until(mutex *m, int clock, const struct timespec *deadline);
void release_or_hand_off(mutex *m); /* called by the owner if META_TIMED is set */

#endif

/* ---- marked, for the sake of signal handlers that lock
 *
 * Most locks keep per-thread state. A handler that interrupts its thread in the middle of an operation would find that
 * state half changed. So the thread is not `ready` during an operation, and a handler that sees this takes the way of
 * reentry.c, which uses the raw_ functions above.
 */
static inline bool lock_try(mutex *m)
{
    operation_begin(LOCK_USES_THREAD);
    bool taken = raw_try(m);
    operation_end(LOCK_USES_THREAD);
    return taken;
}

static inline void lock_release(mutex *m)
{
    operation_begin(UNLOCK_USES_THREAD);
    raw_release(m);
    operation_end(UNLOCK_USES_THREAD);
}

/* Whether the caller is a signal handler that interrupted its thread in the middle of an operation. */
static inline bool is_reentry(void)
{
    return LOCK_USES_THREAD && self.ready == 0 && self.tid != 0;
}
