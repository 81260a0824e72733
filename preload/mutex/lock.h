/* lock.h - the lock of this library, inside a pthread_mutex_t
 *
 * A library is built for one lock: PRELOAD_LOCK is its name in the register, or PRELOAD_MUTEX is `mutex` or
 * `fairmutex`. The lock's context is kept in the mutex: written by the new owner after it has the lock, read before
 * unlock. Waiters have theirs on the stack.
 */
#pragma once

#include "preload/fork/epoch.h"
#include "preload/place/fits.h"

#include <sys/single_threaded.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#ifdef PRELOAD_MUTEX

typedef JOIN(pawl_, PRELOAD_MUTEX, ) lock;
_Static_assert(sizeof(lock) <= sizeof(mutex), "the lock fits");

#define BEARS_mutex , true /* it is a store */
enum {
    LOCK_IS_OBLIVIOUS = true,
    LOCK_BEARS_ANY_UNLOCK = PRELOAD_SAID(JOIN(BEARS_, PRELOAD_MUTEX, )),
    LOCK_USES_THREAD = false,
    UNLOCK_USES_THREAD = false,
    LOCK_MINDS_EXIT = false,
};

static inline lock *lock_in(mutex *m)
{
    return (lock *)m;
}

/* A process with one thread needs no atomics. glibc's mutex does without them, and we are compared with it. */
#define mutex_first(l)     (&(l)->held)
#define fairmutex_first(l) (&(l)->word)
#define FIRST(l)           JOIN(PRELOAD_MUTEX, _first, )(l)

static inline bool change_alone(mutex *m, int from, int to)
{
    if (!__libc_single_threaded ||
        atomic_load_explicit(FIRST(lock_in(m)), memory_order_relaxed) != (unsigned)from)
        return false;
    atomic_store_explicit(FIRST(lock_in(m)), (unsigned)to, memory_order_relaxed);
    return true;
}

static inline void lock_acquire(mutex *m)
{
    if (!change_alone(m, 0, 1))
        JOIN(pawl_, PRELOAD_MUTEX, _acquire)(lock_in(m));
}

static inline bool raw_try(mutex *m)
{
    return JOIN(pawl_, PRELOAD_MUTEX, _try_acquire)(lock_in(m));
}

static inline void raw_release(mutex *m)
{
    if (!change_alone(m, 1, 0))
        JOIN(pawl_, PRELOAD_MUTEX, _release)(lock_in(m));
}

static inline void lock_retire(mutex *m)
{
    (void)m;
}

/* Both have deadlines of their own. */
static inline int acquire_until(mutex *m, int clock, const struct timespec *deadline)
{
    return JOIN(pawl_, PRELOAD_MUTEX, _clocklock)(lock_in(m), clock, deadline);
}

static inline void release_or_hand_off(mutex *m)
{
    raw_release(m);
}

#else

typedef JOIN(pawl_, PRELOAD_LOCK, ) lock;
typedef JOIN(pawl_, PRELOAD_LOCK, _ctx) lock_ctx;

/* Functions of a lock that suit a mutex better than those of the register: another thread may unlock it, and a mutex of
 * which the destructor does nothing, as std::mutex's, leaves nothing behind. */
#define BETTER_LOCK_reciprocating , pawl_reciprocating_acquire_oblivious
#define BETTER_UNLOCK_clh         , pawl_clh_release_idle
#define BETTER(function, usual)   PRELOAD_SECOND(function, usual, )
#define LOCK_BY                   BETTER(JOIN(BETTER_LOCK_, PRELOAD_LOCK, ), JOIN(pawl_, PRELOAD_LOCK, _acquire))
#define UNLOCK_BY                 BETTER(JOIN(BETTER_UNLOCK_, PRELOAD_LOCK, ), JOIN(pawl_, PRELOAD_LOCK, _release))
#define OBLIVIOUS_reciprocating   , true

/* The columns of the register. */
#define LOCK_PASTE(name, what)    JOIN(LOCK_, name, what)
enum {
#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, destroy, prompt, oblivious,    \
                  thread, held, idle, waiting)                                                               \
    LOCK_##name##_is_oblivious = PAWL_BOOL(oblivious),                                                       \
    LOCK_##name##_uses_thread = (thread) + (held) + (idle) > 0,                                              \
    LOCK_##name##_has_nodes = (held) + (idle) > 0,
#include <pawl/locks.def>
#undef PAWL_LOCK
    LOCK_IS_OBLIVIOUS =
        LOCK_PASTE(PRELOAD_LOCK, _is_oblivious) || PRELOAD_SAID(JOIN(OBLIVIOUS_, PRELOAD_LOCK, )),
    LOCK_USES_THREAD = LOCK_PASTE(PRELOAD_LOCK, _uses_thread),
};

#define MINDS_EXIT_hemlock_overlap , true
enum {
    LOCK_BEARS_ANY_UNLOCK = false,
    /* pawl_thread_leave() has something to do. */
    LOCK_MINDS_EXIT = LOCK_PASTE(PRELOAD_LOCK, _has_nodes) || PRELOAD_SAID(JOIN(MINDS_EXIT_, PRELOAD_LOCK, )),
    /* Of those that keep something with the thread, most do it for locking only. */
    UNLOCK_USES_THREAD = LOCK_PASTE(PRELOAD_LOCK, _has_nodes) || !LOCK_IS_OBLIVIOUS,
};

#define HOLED_(name)     PRELOAD_HOLED(name)
#define HOLED_CTX_(name) PRELOAD_HOLED_CTX(name)
enum {
    LOCK_AT = PRELOAD_LOCK_AT(HOLED_(PRELOAD_LOCK), sizeof(lock)),
    CTX_AT = PRELOAD_CTX_AT(HOLED_(PRELOAD_LOCK), sizeof(lock), HOLED_CTX_(PRELOAD_LOCK), sizeof(lock_ctx)),
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

static inline void lock_acquire(mutex *m)
{
    lock_ctx c;
    operation_begin(LOCK_USES_THREAD);
    LOCK_BY(lock_in(m), &c);
    if (!__builtin_types_compatible_p(lock_ctx, pawl_no_ctx))
        *ctx_in(m) = c;
    operation_end(LOCK_USES_THREAD);
}

static inline bool raw_try(mutex *m)
{
    lock_ctx c;
    if (!JOIN(pawl_, PRELOAD_LOCK, _try_acquire)(lock_in(m), &c))
        return false;
    if (!__builtin_types_compatible_p(lock_ctx, pawl_no_ctx))
        *ctx_in(m) = c;
    return true;
}

static inline void raw_release(mutex *m)
{
    lock_ctx c = *ctx_in(m);
    UNLOCK_BY(lock_in(m), &c);
}

/* Frees what the lock keeps elsewhere. The mutex is not used again. */
#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, destroy, ...)                  \
    static inline void retire_##name(void *l)                                                                \
    {                                                                                                        \
        PAWL_IF(destroy, pawl_##name##_destroy((pawl_##name *)l), (void)l);                                  \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK

static inline void lock_retire(mutex *m)
{
    JOIN(retire_, PRELOAD_LOCK, )(lock_in(m));
}

/* timed.c */
int acquire_until(mutex *m, int clock, const struct timespec *deadline);

/* Called by the owner if META_TIMED is set. */
void release_or_hand_off(mutex *m);

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
