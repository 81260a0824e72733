/* functions.h - the functions that programs call: a lock's text between two hooks
 *
 * PAWL_LOCK_FUNCTIONS(name, how) ends a lock's text: from pawl_<name>_acquire, _try_acquire and _release it makes
 * pawl_<name>_lock, _trylock and _unlock. PAWL_LOCK_AND_UNLOCK(name, how) is for a lock without a trylock. `how` is
 * PAWL_HOW_OBLIVIOUS if any thread may unlock, else PAWL_HOW_OWNER.
 *
 * A lock built on another, such as a capacitor, calls the inner lock's text: hooks then report one lock, not two.
 */
#pragma once

#include "hooks.h"
#include "numbered.h"

#include <time.h>

#define PAWL_LOCK_FUNCTIONS(name, how)                                                                       \
    PAWL_LOCK_AND_UNLOCK(name, how)                                                                          \
    PAWL_TRYLOCK(name)

#define PAWL_LOCK_AND_UNLOCK(name, how)                                                                      \
    enum { pawl_##name##_how = (how) };                                                                      \
                                                                                                             \
    PAWL_HOOK void pawl_##name##_lock(pawl_##name *l, pawl_##name##_ctx *c)                                  \
    {                                                                                                        \
        pawl_hook_locking(l, "pawl_" #name, pawl_##name##_how);                                              \
        pawl_##name##_acquire(l, c);                                                                         \
        pawl_hook_locked(l, "pawl_" #name, pawl_##name##_how);                                               \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK void pawl_##name##_unlock(pawl_##name *l, pawl_##name##_ctx *c)                                \
    {                                                                                                        \
        pawl_hook_unlocking(l, "pawl_" #name, pawl_##name##_how);                                            \
        pawl_##name##_release(l, c);                                                                         \
        pawl_hook_unlocked(l);                                                                               \
    }

/* Whoever makes a lock of their own has this, too, and need not use it. */
#define PAWL_TRYLOCK(name)                                                                                   \
    __attribute__((unused)) PAWL_HOOK bool pawl_##name##_trylock(pawl_##name *l, pawl_##name##_ctx *c)       \
    {                                                                                                        \
        pawl_hook_locking(l, "pawl_" #name, PAWL_HOW_TRY);                                                   \
        bool locked = pawl_##name##_try_acquire(l, c);                                                       \
        pawl_hook_tried(l, "pawl_" #name, locked);                                                           \
        return locked;                                                                                       \
    }

/* The same for a mutex. It has no context, but deadlines, and can tell whether it is held: `word` is nonzero then.
 *
 *   clocklock   0; ETIMEDOUT when the deadline has passed on that clock (CLOCK_MONOTONIC or CLOCK_REALTIME); EINVAL if
 *               the clock is another, or the deadline invalid
 *   timedlock   the same with CLOCK_REALTIME, like pthread_mutex_timedlock()
 *   destroy     optional; debug mode then reports a mutex that is still held (docs/debugging.md)
 */
#define PAWL_MUTEX_FUNCTIONS(name, word)                                                                     \
    PAWL_HOOK void pawl_##name##_lock(pawl_##name *m)                                                        \
    {                                                                                                        \
        pawl_hook_locking(m, "pawl_" #name, PAWL_HOW_OF(m->word));                                           \
        pawl_##name##_acquire(m);                                                                            \
        pawl_hook_locked(m, "pawl_" #name, PAWL_HOW_OBLIVIOUS);                                              \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK bool pawl_##name##_trylock(pawl_##name *m)                                                     \
    {                                                                                                        \
        pawl_hook_locking(m, "pawl_" #name, PAWL_HOW_TRY);                                                   \
        bool locked = pawl_##name##_try_acquire(m);                                                          \
        pawl_hook_tried(m, "pawl_" #name, locked);                                                           \
        return locked;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK int pawl_##name##_clocklock(pawl_##name *m, int clock, const struct timespec *deadline)        \
    {                                                                                                        \
        pawl_hook_locking(m, "pawl_" #name, PAWL_HOW_TRY);                                                   \
        int result =                                                                                         \
            PAWL_LIKELY(pawl_##name##_try_acquire(m)) ? 0 : pawl_##name##_lock_until(m, clock, deadline);    \
        pawl_hook_tried(m, "pawl_" #name, result == 0);                                                      \
        return result;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK int pawl_##name##_timedlock(pawl_##name *m, const struct timespec *deadline)                   \
    {                                                                                                        \
        return pawl_##name##_clocklock(m, 0, deadline);                                                      \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK void pawl_##name##_unlock(pawl_##name *m)                                                      \
    {                                                                                                        \
        pawl_hook_unlocking(m, "pawl_" #name, PAWL_HOW_OF(m->word));                                         \
        pawl_##name##_release(m);                                                                            \
        pawl_hook_unlocked(m);                                                                               \
    }                                                                                                        \
                                                                                                             \
    PAWL_HOOK void pawl_##name##_destroy(pawl_##name *m)                                                     \
    {                                                                                                        \
        pawl_hook_destroyed(m, "pawl_" #name, PAWL_HOW_OF(m->word));                                         \
    }
