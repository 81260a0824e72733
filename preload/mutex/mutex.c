/* mutex.c - pthread_mutex_*: the paths that are not fast
 *
 * The exported functions know one kind of mutex, which is most of them, and do it in place (pthread.c). All others
 * come here: recursive and checking ones, those of glibc, those that were never used or come from before a fork, and
 * every one of them while statistics are kept or debug mode is on.
 */
#include "mutex.h"
#include "preload/cancel.h"
#include "lock.h"
#include "preload/stats/stats.h"
#include "src/debug.h"
#include "src/park/futex.h"

#include <errno.h>

static bool is_mine(const body *b)
{
    return owner_of(b) == self.tid;
}

static uint32_t depth_of(const body *b)
{
    return meta_of(b) & META_DEPTH;
}

/* By the owner. A flag that others set at the same time may be lost: they set it again. */
static void set_depth(body *b, uint32_t depth)
{
    atomic_store_explicit(&b->meta, (meta_of(b) & ~(uint32_t)META_DEPTH) | depth, memory_order_relaxed);
}

/* ---- locking */

static int obtain(body *b, const demand *d)
{
    if (d->deadline != NULL)
        return take_until(b, d->clock, d->deadline);
    /* Relocking your own normal mutex must hang, not enqueue the same element twice. And if unlock can't hand off to a
     * timed waiter, newcomers wait behind it. */
    if (!LOCK_IS_OBLIVIOUS && (is_mine(b) || (meta_of(b) & META_TIMED)))
        return take_until(b, CLOCK_MONOTONIC, NULL);
    take_anyhow(b);
    return 0;
}

static int acquire_untold(body *b, const demand *d)
{
    uint64_t waited = 0;
    if (!d->waits || d->deadline != NULL || stats_on) {
        if (!try_anyhow(b)) {
            if (!d->waits)
                return EBUSY;
            uint64_t start = stats_on ? pawl_nanoseconds(CLOCK_MONOTONIC) : 0;
            int error = obtain(b, d);
            if (error != 0)
                return error;
            waited = stats_on ? pawl_nanoseconds(CLOCK_MONOTONIC) - start + 1 : 0;
        }
    } else {
        obtain(b, d);
    }
    set_owner(b, self.tid);
    if (stats_on)
        stats_acquired(b, d->site, waited);
    return 0;
}

#define KIND "pthread_mutex_t"

/* For the debug mode. Another thread may unlock it: POSIX does not allow that, but glibc does, and programs do it. */
static unsigned how(const body *b, const demand *d)
{
    return PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (owner_of(b) != 0 ? PAWL_HOW_HELD : 0) |
           (!d->waits || d->deadline != NULL ? PAWL_HOW_TRY : 0);
}

static int acquire(body *b, const demand *d)
{
    if (PAWL_LIKELY(!pawl_debug_on))
        return acquire_untold(b, d);
    pawl_debug_locking(b, KIND, how(b, d));
    int error = acquire_untold(b, d);
    if (error == 0)
        pawl_debug_locked(b, KIND, how(b, d));
    else
        pawl_debug_not_locked(b);
    return error;
}

/* The owner locks it again. */
static int deepen(body *b, const demand *d)
{
    if (type_of(b) == KIND_ERRORCHECK)
        return d->waits ? EDEADLK : EBUSY;
    uint32_t depth = depth_of(b);
    if (depth == META_DEPTH)
        return EAGAIN;
    set_depth(b, depth + 1);
    return 0;
}

static int lock_now(body *b, const demand *d)
{
    int before = errno;
    int error = settle(b, d);
    if (error == 0)
        error = is_checked(b) && is_mine(b) ? deepen(b, d) : acquire(b, d);
    errno = before;
    return error;
}

/* ---- unlocking */

/* Whether the caller is the one to release it. glibc minds neither a mutex that nobody holds nor two threads that let go
 * of one at the same time; most locks mind both. */
static bool disown(body *b)
{
    uint32_t owner = owner_of(b);
    return owner != 0 && (LOCK_IS_OBLIVIOUS || owner == self.tid) &&
           atomic_compare_exchange_strong_explicit(&b->owner, &owner, 0, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* What was disowned. */
static void give_up(body *b)
{
    if (stats_on)
        stats_released(b);
    if (PAWL_UNLIKELY(meta_of(b) & META_TIMED))
        release_timed(b);
    else
        release_anyhow(b);
}

static void let_go(body *b)
{
    if (pawl_debug_on)
        pawl_debug_unlocking(b, KIND,
                             PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (owner_of(b) != 0 ? PAWL_HOW_HELD : 0));
    if (disown(b))
        give_up(b);
    if (pawl_debug_on)
        pawl_debug_unlocked(b);
}

static int unlock_now(body *b)
{
    int error = settle_mine(b);
    if (error != 0)
        return error;
    if ((is_checked(b) || !LOCK_IS_OBLIVIOUS) && !is_mine(b))
        return EPERM;
    uint32_t depth = depth_of(b);
    if (depth > 0)
        set_depth(b, depth - 1);
    else
        let_go(b);
    return 0;
}

/* ---- by a thread that may be cancelled at any instruction
 *
 * It waits for a while, and a little longer each time; in between it can go, because it is in no queue. */

enum { SHORTEST = 10000000, LONGEST = 640000000 }; /* nanoseconds */

typedef struct attempt {
    body *mutex;
    bool taken;
} attempt;

/* Not inlined: what it writes is read after a longjmp(). */
__attribute__((noinline)) static int lock_bit_by_bit(attempt *a, const demand *d)
{
    if (d->deadline != NULL && pawl_deadline_check(d->clock, d->deadline) != 0)
        return lock_now(a->mutex, d);
    demand part = *d;
    part.clock = d->deadline != NULL ? d->clock : CLOCK_MONOTONIC;
    for (long slice = SHORTEST;; slice = slice < LONGEST ? slice * 2 : LONGEST) {
        struct timespec until = pawl_from_now(part.clock, slice);
        bool last = d->deadline != NULL && !pawl_is_before(&until, d->deadline);
        part.deadline = last ? d->deadline : &until;
        int error = lock_now(a->mutex, &part);
        a->taken = error == 0;
        if (error != ETIMEDOUT || last)
            return error;
        cancel_allow(true);
        cancel_hold_off();
    }
}

/* The canceller may have unlocked it since: with glibc, whoever was cancelled in its wait does not have it. */
static void give_back(void *argument)
{
    attempt *a = argument;
    if (a->taken)
        unlock_now(a->mutex);
}

static int lock_cancelable(body *b, const demand *d)
{
    attempt a = {b, false};
    int error;
    pthread_cleanup_push(give_back, &a);
    error = lock_bit_by_bit(&a, d);
    cancel_allow(true);
    pthread_cleanup_pop(0);
    return error;
}

int mutex_lock(body *b, const demand *d)
{
    bool held_off = cancel_hold_off();
    if (PAWL_UNLIKELY(held_off) && d->waits)
        return lock_cancelable(b, d);
    int error = lock_now(b, d);
    cancel_allow(held_off);
    return error;
}

int mutex_unlock(body *b)
{
    bool held_off = cancel_hold_off();
    int error = unlock_now(b);
    cancel_allow(held_off);
    return error;
}

/* ---- for a condition variable */

int mutex_may_wait(body *b)
{
    int error = settle_mine(b);
    return error == 0 && is_checked(b) && !is_mine(b) ? EPERM : error;
}

uint32_t mutex_let_go(body *b)
{
    uint32_t depth = depth_of(b);
    if (depth > 0)
        set_depth(b, 0);
    if (is_mine(b)) /* it may not be locked; and if it is another's, that one may be about to release it */
        let_go(b);
    return depth;
}

void mutex_got_back(body *b, uint32_t depth, const void *site)
{
    set_owner(b, self.tid);
    set_depth(b, depth);
    if (stats_on)
        stats_acquired(b, site, 0);
    if (pawl_debug_on)
        pawl_debug_wait_end(b, KIND);
}

void mutex_take_back(body *b, uint32_t depth, const void *site)
{
    demand d = {.site = site, .waits = true};
    settle(b, &d);
    acquire(b, &d);
    set_depth(b, depth);
}
