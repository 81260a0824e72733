/* pthread.c - pthread_mutex_* as the program sees them: the fast paths
 *
 * One comparison tells a normal mutex of this process, which is locked in place. All others go to slow.c. Nothing here
 * calls through the PLT.
 */
#include "preload/c11.h"
#include "preload/cancel.h"
#include "lock.h"
#include "preload/stats/quick.h"
#include "reentry.h"
#include "slow.h"
#include "src/debug.h"

#include <errno.h>
#include <string.h>

#define SITE __builtin_return_address(0)

/* Not if the caller holds the mutex already and its lock can't bear a second wait by one thread. */
static inline bool may_lock_here(const mutex *m)
{
    return is_plain(m) && PAWL_LIKELY(self.ready != 0) &&
           (LOCK_IS_OBLIVIOUS || PAWL_LIKELY(owner_of(m) != self.tid));
}

/* Not a signal handler that interrupted its thread in a lock operation, if unlock needs per-thread state. */
static inline bool is_ready_to_unlock(void)
{
    return !UNLOCK_USES_THREAD || PAWL_LIKELY(self.ready != 0);
}

/* glibc's mutex bears an unlock too many, or by another thread; most locks don't. */
static inline bool may_unlock_here(const mutex *m)
{
    return is_plain(m) && is_ready_to_unlock() &&
           (LOCK_BEARS_ANY_UNLOCK ||
            PAWL_LIKELY(LOCK_IS_OBLIVIOUS ? owner_of(m) != 0 : owner_of(m) == self.tid));
}

/* ---- out of line */

/* Not a thread that never locked: it does not know its tid yet, and a free mutex has no owner. */
static bool is_own(const mutex *m)
{
    return self.tid != 0 && owner_of(m) == self.tid;
}

/* Not one that was destroyed. */
static bool is_valid(const mutex *m)
{
    return (unsigned)type_of(m) <= KIND_ADAPTIVE;
}

/* A shorter way for recursive mutexes: SQLite locks little else. Not if another thread seems to hold it: a handler may
 * have forked just now, and the caller's tid be another. */
static bool lock_recursive_here(mutex *m)
{
    if (!is_plain_recursive(m) || self.ready == 0 || (meta_of(m) & META_DEPTH) == META_DEPTH)
        return false;
    uint32_t owner = owner_of(m);
    if (owner == self.tid) {
        atomic_store_explicit(&m->meta, meta_of(m) + 1, memory_order_relaxed);
    } else if (owner == 0) {
        lock_acquire(m);
        set_owner(m, self.tid);
    } else {
        return false;
    }
    return true;
}

/* ---- with statistics */

__attribute__((always_inline)) static inline bool may_lock_counted(const mutex *m)
{
    return is_plain_counted(m) && self.ready != 0 && owner_of(m) != self.tid;
}

__attribute__((noinline)) static int lock_and_tell(mutex *m, const void *site)
{
    stats_call call;
    stats_ask(&call, m, STATS_MUTEX, site);
    if (!lock_try(m)) {
        stats_wait_begin(&call);
        lock_acquire(m);
    }
    set_owner(m, self.tid);
    stats_acquired(&call);
    return 0;
}

/* False: it takes more, or the lock is taken. */
__attribute__((always_inline)) static inline bool lock_quickly(mutex *m, const void *site)
{
    stats_row *row = stats_quick_row(m, STATS_MUTEX);
    if (PAWL_UNLIKELY(row == NULL) || !stats_is_quiet(row) || PAWL_UNLIKELY(!lock_try(m)))
        return false;
    set_owner(m, self.tid);
    stats_quick_acquired(row, site);
    return true;
}

__attribute__((noinline)) static int lock_counted(mutex *m, const void *site)
{
    return lock_quickly(m, site) ? 0 : lock_and_tell(m, site);
}

static bool may_unlock_counted(const mutex *m)
{
    return is_plain_counted(m) && is_ready_to_unlock() && is_own(m);
}

static int unlock_counted(mutex *m)
{
    stats_row *row = stats_quick_row(m, STATS_MUTEX);
    if (PAWL_UNLIKELY(row == NULL) || !stats_quick_released(row))
        stats_released(m, STATS_MUTEX);
    set_owner(m, 0);
    lock_release(m);
    return 0;
}

/* ---- the rest */

__attribute__((noinline)) static int lock_slowly(pthread_mutex_t *object, const void *site)
{
    mutex *m = mutex_of(object);
    if (may_lock_counted(m))
        return lock_counted(m, site);
    if (lock_recursive_here(m))
        return 0;
    if (is_glibcs(m))
        return glibc()->mutex_lock(object);
    request r = {.site = site, .waits = true};
    return is_valid(m) ? mutex_lock(m, &r) : EINVAL;
}

__attribute__((noinline)) static int trylock_slowly(pthread_mutex_t *object, const void *site)
{
    mutex *m = mutex_of(object);
    if (may_lock_counted(m) && lock_quickly(m, site))
        return 0;
    if (is_glibcs(m))
        return glibc()->mutex_trylock(object);
    request r = {.site = site};
    return is_valid(m) ? mutex_lock(m, &r) : EINVAL;
}

__attribute__((noinline)) static int unlock_slowly(pthread_mutex_t *object)
{
    mutex *m = mutex_of(object);
    if (may_unlock_counted(m))
        return unlock_counted(m);
    if (is_plain_recursive(m) && is_ready_to_unlock() && is_own(m)) {
        if (meta_of(m) & META_DEPTH) {
            atomic_store_explicit(&m->meta, meta_of(m) - 1, memory_order_relaxed);
        } else {
            set_owner(m, 0);
            lock_release(m);
        }
        return 0;
    }
    if (is_glibcs(m))
        return glibc()->mutex_unlock(object);
    return is_valid(m) ? mutex_unlock(m) : EINVAL;
}

/* ---- the functions */

EXPORT int pthread_mutex_lock(pthread_mutex_t *object)
{
    mutex *m = mutex_of(object);
    if (PAWL_UNLIKELY(!may_lock_here(m)))
        return lock_slowly(object, SITE);
    lock_acquire(m);
    set_owner(m, self.tid);
    return 0;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *object)
{
    mutex *m = mutex_of(object);
    if (PAWL_UNLIKELY(!may_lock_here(m)))
        return trylock_slowly(object, SITE);
    if (!lock_try(m))
        return EBUSY;
    set_owner(m, self.tid);
    return 0;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *object)
{
    mutex *m = mutex_of(object);
    if (PAWL_UNLIKELY(!may_unlock_here(m)))
        return unlock_slowly(object);
    set_owner(m, 0);
    lock_release(m);
    return 0;
}

static int lock_until(pthread_mutex_t *object, int clock, const struct timespec *deadline, const void *site)
{
    mutex *m = mutex_of(object);
    request r = {.site = site, .waits = true, .clock = clock, .deadline = deadline};
    return is_valid(m) ? mutex_lock(m, &r) : EINVAL;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict object, const struct timespec *restrict deadline)
{
    if (is_glibcs(mutex_of(object)))
        return glibc()->mutex_timedlock(object, deadline);
    return lock_until(object, CLOCK_REALTIME, deadline, SITE);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict object, clockid_t clock,
                                   const struct timespec *restrict deadline)
{
    if (is_glibcs(mutex_of(object)))
        return glibc()->mutex_clocklock(object, clock, deadline);
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return lock_until(object, clock, deadline, SITE);
}

/* ---- C11's: the same, with other results */

EXPORT int mtx_lock(mtx_t *object)
{
    mutex *m = (mutex *)object;
    if (PAWL_UNLIKELY(!may_lock_here(m)))
        return c11_result(lock_slowly((pthread_mutex_t *)object, SITE));
    lock_acquire(m);
    set_owner(m, self.tid);
    return thrd_success;
}

EXPORT int mtx_trylock(mtx_t *object)
{
    mutex *m = (mutex *)object;
    if (PAWL_UNLIKELY(!may_lock_here(m)))
        return c11_result(trylock_slowly((pthread_mutex_t *)object, SITE));
    if (!lock_try(m))
        return thrd_busy;
    set_owner(m, self.tid);
    return thrd_success;
}

EXPORT int mtx_timedlock(mtx_t *restrict object, const struct timespec *restrict deadline)
{
    return c11_result(lock_until((pthread_mutex_t *)object, CLOCK_REALTIME, deadline, SITE));
}

/* ---- their beginning and end */

/* glibc translates the attributes into a kind, and initialises the mutexes that stay its own. */
EXPORT int pthread_mutex_init(pthread_mutex_t *object, const pthread_mutexattr_t *attributes)
{
    mutex *m = mutex_of(object);
    int kind = KIND_NORMAL;
    if (attributes != NULL) {
        int error = glibc()->mutex_init(object, attributes);
        if (error != 0 || is_glibcs(m))
            return error;
        kind = kind_of(m);
    }
    memset(object, 0, sizeof *object);
    m->kind = kind;
    m->meta = epoch_now();
    return 0;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *object)
{
    mutex *m = mutex_of(object);
    if (is_glibcs(m))
        return glibc()->mutex_destroy(object);
    if (pawl_debug_on)
        pawl_debug_destroyed(object, "pthread_mutex_t",
                             PAWL_HOW_TELLS | (owner_of(m) != 0 ? PAWL_HOW_HELD : 0));
    if (owner_of(m) != 0)
        return EBUSY;
    bool held_off = cancel_hold_off();
    bool used = mutex_has_cond_waiters(m);
    cancel_allow(held_off);
    if (used)
        return EBUSY;
    /* As glibc does: not a valid kind. A free mutex keeps nothing elsewhere (UNLOCKING, lock.h). */
    m->kind = -1;
    return 0;
}

/* Early, so that its pthread key is one of the first. */
__attribute__((constructor(101))) static void expect_thread_exits(void)
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
MOVED(mtx_lock, "2.28");
MOVED(mtx_trylock, "2.28");
MOVED(mtx_timedlock, "2.28");
ALIAS(local_mutex_init, pthread_mutex_init, "hidden");
ALIAS(local_mutex_destroy, pthread_mutex_destroy, "hidden");
ALIAS(local_mutex_unlock, pthread_mutex_unlock, "hidden");
