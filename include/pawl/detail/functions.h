/* functions.h - the functions that programs call, made of a lock's text and the hooks around it
 *
 * PAWL_LOCK_FUNCTIONS(name, how) ends the text of a lock: from pawl_<name>_acquire, _try_acquire and _release it makes
 * pawl_<name>_lock, _trylock and _unlock. PAWL_LOCK_AND_UNLOCK(name, how) is for a lock without a trylock. `how` is
 * PAWL_HOW_OBLIVIOUS if any thread may unlock, else PAWL_HOW_OWNER.
 *
 * What is built on a lock, such as a capacitor, calls its text: whoever listens hears of one lock then, not of two.
 */
#pragma once

#include "hooks.h"

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

#define PAWL_TRYLOCK(name)                                                                                   \
    PAWL_HOOK bool pawl_##name##_trylock(pawl_##name *l, pawl_##name##_ctx *c)                               \
    {                                                                                                        \
        pawl_hook_locking(l, "pawl_" #name, PAWL_HOW_TRY);                                                   \
        bool locked = pawl_##name##_try_acquire(l, c);                                                       \
        pawl_hook_tried(l, "pawl_" #name, locked);                                                           \
        return locked;                                                                                       \
    }

/* The same for a mutex, which has no context, but deadlines, and can tell whether it is held: `word` is not zero then.
 *
 *   clocklock   0, or ETIMEDOUT at that time of that clock (CLOCK_MONOTONIC or CLOCK_REALTIME), or EINVAL if it is none
 *   timedlock   the same with CLOCK_REALTIME, as pthread_mutex_timedlock() has it
 *   destroy     need not be called. Where it is, debug mode reports a mutex that is held (docs/debugging.md)
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
