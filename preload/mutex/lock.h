/* lock.h - the lock of this library, inside a pthread_mutex_t
 *
 * A library is built for one lock: PRELOAD_LOCK is its name in the register, or PRELOAD_MUTEX is `mutex` or
 * `fairmutex`. Whoever owns the mutex keeps the lock's context in it: written after lock, read before unlock, because
 * those that wait must not share it.
 */
#pragma once

#include "preload/fork/era.h"
#include "preload/place/fits.h"

#include <sys/single_threaded.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#ifdef PRELOAD_MUTEX

typedef JOIN(pawl_, PRELOAD_MUTEX, ) lock;
_Static_assert(sizeof(lock) <= sizeof(body), "the lock fits");

#define BEARS_mutex , true /* it is a store */
enum {
    LOCK_IS_OBLIVIOUS = true,
    LOCK_BEARS_ANY_UNLOCK = PRELOAD_SAID(JOIN(BEARS_, PRELOAD_MUTEX, )),
    LOCK_USES_THREAD = false,
    UNLOCK_USES_THREAD = false,
    LOCK_MINDS_EXIT = false,
};

static inline lock *lock_in(body *b)
{
    return (lock *)b;
}

/* With no other thread there is nobody to be atomic for. glibc's mutex does without, too, and so it is the measure. */
#define mutex_first(l)     (&(l)->held)
#define fairmutex_first(l) (&(l)->word)
#define FIRST(l)           JOIN(PRELOAD_MUTEX, _first, )(l)

static inline bool change_alone(body *b, int from, int to)
{
    if (!__libc_single_threaded ||
        atomic_load_explicit(FIRST(lock_in(b)), memory_order_relaxed) != (unsigned)from)
        return false;
    atomic_store_explicit(FIRST(lock_in(b)), (unsigned)to, memory_order_relaxed);
    return true;
}

static inline void raw_take(body *b)
{
    if (!change_alone(b, 0, 1))
        JOIN(pawl_, PRELOAD_MUTEX, _lock)(lock_in(b));
}

static inline bool raw_try(body *b)
{
    return JOIN(pawl_, PRELOAD_MUTEX, _trylock)(lock_in(b));
}

static inline void raw_release(body *b)
{
    if (!change_alone(b, 1, 0))
        JOIN(pawl_, PRELOAD_MUTEX, _unlock)(lock_in(b));
}

static inline void retire(body *b)
{
    (void)b;
}

/* These can wait with a deadline themselves. */
static inline int take_until(body *b, int clock, const struct timespec *deadline)
{
    return JOIN(pawl_, PRELOAD_MUTEX, _clocklock)(lock_in(b), clock, deadline);
}

static inline void release_timed(body *b)
{
    raw_release(b);
}

#else

typedef JOIN(pawl_, PRELOAD_LOCK, ) lock;
typedef JOIN(pawl_, PRELOAD_LOCK, _ctx) lock_ctx;

/* Functions of a lock that suit a mutex better than those of the register: another thread may unlock it, and a mutex of
 * which the destructor does nothing, as std::mutex's, leaves nothing behind. */
#define BETTER_LOCK_reciprocating , pawl_reciprocating_acquire_oblivious
#define BETTER_UNLOCK_clh         , pawl_clh_release_idle
#define BETTER(function, usual)   PRELOAD_SECOND(function, usual, )
#define LOCK_BY                   BETTER(JOIN(BETTER_LOCK_, PRELOAD_LOCK, ), JOIN(pawl_, PRELOAD_LOCK, _lock))
#define UNLOCK_BY                 BETTER(JOIN(BETTER_UNLOCK_, PRELOAD_LOCK, ), JOIN(pawl_, PRELOAD_LOCK, _unlock))
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

static inline lock *lock_in(body *b)
{
    return (lock *)((char *)b + LOCK_AT);
}

static inline lock_ctx *ctx_in(body *b)
{
    return (lock_ctx *)((char *)b + CTX_AT);
}

static inline void raw_take(body *b)
{
    lock_ctx c;
    LOCK_BY(lock_in(b), &c);
    if (!__builtin_types_compatible_p(lock_ctx, pawl_no_ctx))
        *ctx_in(b) = c;
}

static inline bool raw_try(body *b)
{
    lock_ctx c;
    if (!JOIN(pawl_, PRELOAD_LOCK, _trylock)(lock_in(b), &c))
        return false;
    if (!__builtin_types_compatible_p(lock_ctx, pawl_no_ctx))
        *ctx_in(b) = c;
    return true;
}

static inline void raw_release(body *b)
{
    lock_ctx c = *ctx_in(b);
    UNLOCK_BY(lock_in(b), &c);
}

/* Nobody will use it again. */
#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, destroy, ...)                  \
    static inline void retire_##name(void *l)                                                                \
    {                                                                                                        \
        PAWL_IF(destroy, pawl_##name##_destroy((pawl_##name *)l), (void)l);                                  \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK

static inline void retire(body *b)
{
    JOIN(retire_, PRELOAD_LOCK, )(lock_in(b));
}

/* timed.c */
int take_until(body *b, int clock, const struct timespec *deadline);

/* By the owner, if META_TIMED is set. */
void release_timed(body *b);

#endif

/* ---- and a signal handler that locks, too
 *
 * Most locks keep something with the thread, and a handler that interrupts it in the middle of an operation would find
 * it half done. So a thread is not `ready` while it is there, and a handler that finds it so goes the long way: see
 * nested.c.
 */
static inline void take(body *b)
{
    if (LOCK_USES_THREAD)
        thread_begin();
    raw_take(b);
    if (LOCK_USES_THREAD)
        thread_end();
}

static inline bool try_take(body *b)
{
    if (LOCK_USES_THREAD)
        thread_begin();
    bool taken = raw_try(b);
    if (LOCK_USES_THREAD)
        thread_end();
    return taken;
}

static inline void release(body *b)
{
    if (UNLOCK_USES_THREAD)
        thread_begin();
    raw_release(b);
    if (UNLOCK_USES_THREAD)
        thread_end();
}

/* The same by a thread that may be in the middle of one of them. */
void take_anyhow(body *b);
bool try_anyhow(body *b);
void release_anyhow(body *b);
void retire_anyhow(body *b);
