/* pthread.c - pthread_mutex_* as the program sees them: the fast paths
 *
 * One comparison finds a normal mutex of this process, which is locked in place. Whatever else it may be is not in a
 * hurry. Nothing here is called through the PLT.
 */
#include "preload/cancel.h"
#include "lock.h"
#include "mutex.h"
#include "src/debug.h"

#include <errno.h>
#include <string.h>

#define SITE __builtin_return_address(0)

/* A thread that holds the mutex and wants it again takes the slow path if its lock could not bear it. */
static inline bool locks_at_once(const body *b)
{
    return is_plain(b) && PAWL_LIKELY(self.ready != 0) &&
           (LOCK_IS_OBLIVIOUS || PAWL_LIKELY(owner_of(b) != self.tid));
}

/* A signal handler may be here while the thread is in a lock. */
static inline bool is_ready(void)
{
    return !UNLOCK_USES_THREAD || PAWL_LIKELY(self.ready != 0);
}

/* glibc does not mind an unlock too many, or by another thread; most locks do. */
static inline bool unlocks_at_once(const body *b)
{
    return is_plain(b) && is_ready() &&
           (LOCK_BEARS_ANY_UNLOCK ||
            PAWL_LIKELY(LOCK_IS_OBLIVIOUS ? owner_of(b) != 0 : owner_of(b) == self.tid));
}

/* ---- out of line */

static bool is_glibcs(const body *b)
{
    return (kind_of(b) & KIND_FORWARDED) != 0;
}

static bool is_a_mutex(const body *b)
{
    return (unsigned)type_of(b) <= KIND_ADAPTIVE;
}

/* Not the fast path, but a short one: SQLite locks little else. */
static bool locks_again_or_at_once(const body *b)
{
    return is_plain_recursive(b) && self.ready != 0 && (meta_of(b) & META_DEPTH) < META_DEPTH;
}

static void deepen(body *b)
{
    atomic_store_explicit(&b->meta, meta_of(b) + 1, memory_order_relaxed);
}

__attribute__((noinline)) static int lock_slowly(pthread_mutex_t *m, const void *site)
{
    body *b = body_of(m);
    if (locks_again_or_at_once(b)) {
        if (owner_of(b) == self.tid) {
            deepen(b);
        } else {
            take(b);
            set_owner(b, self.tid);
        }
        return 0;
    }
    if (is_glibcs(b))
        return glibc()->mutex_lock(m);
    demand d = {.site = site, .waits = true};
    return is_a_mutex(b) ? mutex_lock(b, &d) : EINVAL;
}

__attribute__((noinline)) static int trylock_slowly(pthread_mutex_t *m, const void *site)
{
    body *b = body_of(m);
    if (is_glibcs(b))
        return glibc()->mutex_trylock(m);
    demand d = {.site = site};
    return is_a_mutex(b) ? mutex_lock(b, &d) : EINVAL;
}

__attribute__((noinline)) static int unlock_slowly(pthread_mutex_t *m)
{
    body *b = body_of(m);
    if (is_plain_recursive(b) && is_ready() && owner_of(b) == self.tid) {
        if (meta_of(b) & META_DEPTH) {
            atomic_store_explicit(&b->meta, meta_of(b) - 1, memory_order_relaxed);
        } else {
            set_owner(b, 0);
            release(b);
        }
        return 0;
    }
    if (is_glibcs(b))
        return glibc()->mutex_unlock(m);
    return is_a_mutex(b) ? mutex_unlock(b) : EINVAL;
}

/* ---- the functions */

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
    body *b = body_of(m);
    if (PAWL_UNLIKELY(!locks_at_once(b)))
        return lock_slowly(m, SITE);
    take(b);
    set_owner(b, self.tid);
    return 0;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
    body *b = body_of(m);
    if (PAWL_UNLIKELY(!locks_at_once(b)))
        return trylock_slowly(m, SITE);
    if (!try_take(b))
        return EBUSY;
    set_owner(b, self.tid);
    return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
    body *b = body_of(m);
    if (PAWL_UNLIKELY(!unlocks_at_once(b)))
        return unlock_slowly(m);
    set_owner(b, 0);
    release(b);
    return 0;
}

static int lock_until(pthread_mutex_t *m, int clock, const struct timespec *deadline, const void *site)
{
    body *b = body_of(m);
    demand d = {.site = site, .waits = true, .clock = clock, .deadline = deadline};
    return is_a_mutex(b) ? mutex_lock(b, &d) : EINVAL;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict deadline)
{
    if (is_glibcs(body_of(m)))
        return glibc()->mutex_timedlock(m, deadline);
    return lock_until(m, CLOCK_REALTIME, deadline, SITE);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
                                   const struct timespec *restrict deadline)
{
    if (is_glibcs(body_of(m)))
        return glibc()->mutex_clocklock(m, clock, deadline);
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return lock_until(m, clock, deadline, SITE);
}

/* glibc writes the kind, and all of it if the mutex is to be its own. */
EXPORT int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes)
{
    body *b = body_of(m);
    int kind = KIND_NORMAL;
    if (attributes != NULL) {
        int error = glibc()->mutex_init(m, attributes);
        if (error != 0 || is_glibcs(b))
            return error;
        kind = kind_of(b);
    }
    memset(m, 0, sizeof *m);
    b->kind = kind;
    b->meta = era_now();
    return 0;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
    body *b = body_of(m);
    if (is_glibcs(b))
        return glibc()->mutex_destroy(m);
    if (pawl_debug_on)
        pawl_debug_destroyed(m, "pthread_mutex_t", PAWL_HOW_TELLS | (owner_of(b) != 0 ? PAWL_HOW_HELD : 0));
    if (owner_of(b) != 0)
        return EBUSY;
    bool held_off = cancel_hold_off();
    bool used = mutex_is_waited_with(b);
    if (!used && (meta_of(b) & META_ERA) == era_now())
        retire_anyhow(b);
    cancel_allow(held_off);
    if (used)
        return EBUSY;
    b->kind = -1; /* as glibc has it: no kind of mutex */
    return 0;
}

/* Early, for a key among the first. */
__attribute__((constructor(101))) static void expect_ends(void)
{
    if (LOCK_MINDS_EXIT)
        pawl_thread_expect();
}

/* ---- by other names: in old binaries; by version; for our own use, without the PLT */

#define ALIAS(name, of, seen) extern __typeof(of) name __attribute__((alias(#of), visibility(seen)))
ALIAS(__pthread_mutex_init, pthread_mutex_init, "default");
ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy, "default");
ALIAS(__pthread_mutex_lock, pthread_mutex_lock, "default");
ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock, "default");
ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock, "default");
OF_LIBC(pthread_mutex_init);
OF_LIBC(pthread_mutex_destroy);
OF_LIBC(pthread_mutex_lock);
OF_LIBC(pthread_mutex_unlock);
OF_LIBC(__pthread_mutex_init);
OF_LIBC(__pthread_mutex_destroy);
OF_LIBC(__pthread_mutex_lock);
OF_LIBC(__pthread_mutex_trylock);
OF_LIBC(__pthread_mutex_unlock);
OF_LIBPTHREAD(pthread_mutex_trylock);
OF_LIBPTHREAD(pthread_mutex_timedlock);
MOVED(pthread_mutex_clocklock, "2.30");
ALIAS(own_mutex_init, pthread_mutex_init, "hidden");
ALIAS(own_mutex_destroy, pthread_mutex_destroy, "hidden");
ALIAS(own_mutex_lock, pthread_mutex_lock, "hidden");
ALIAS(own_mutex_trylock, pthread_mutex_trylock, "hidden");
ALIAS(own_mutex_timedlock, pthread_mutex_timedlock, "hidden");
ALIAS(own_mutex_unlock, pthread_mutex_unlock, "hidden");
