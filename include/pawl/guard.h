/* guard.h - locks that are released wherever control leaves a block
 *
 *   PAWL_GUARD(&mutex) { ... }             holds a pawl_mutex for the block
 *   PAWL_GUARD_LOCK(mcs, &lock) { ... }    holds a pawl_mcs; any other lock of the register likewise
 *   PAWL_HOLD(&mutex);                     the same until the end of the enclosing block
 *   PAWL_HOLD_LOCK(mcs, &lock);
 *
 * The end of the block, return, and a goto or break out of it release the lock. longjmp does not, and nobody may goto
 * into the block. PAWL_GUARD is a loop of one turn: break and continue in its block leave the guard, not the loop
 * around it. After PAWL_HOLD they mean what they always mean. A return value is evaluated under the lock. No two
 * guards on one source line.
 *
 * For C; C++ has pawl::guard in <pawl.hpp>.
 */
#pragma once

#include "locks.h"

/* What the macros below need for pawl_<name>, a lock of that form (locks.h). For a lock that is not in the register,
 * expand it once. */
#define PAWL_GUARD_DEFINE(name, form)                                                                        \
    typedef struct pawl_##name##_guard {                                                                     \
        pawl_##name *lock;                                                                                   \
        PAWL_CTX_OF(name, form) c;                                                                           \
    } pawl_##name##_guard;                                                                                   \
                                                                                                             \
    static inline pawl_##name##_guard *pawl_##name##_guard_take(pawl_##name##_guard *g)                      \
    {                                                                                                        \
        PAWL_CALL(name, form, lock, g->lock, &g->c);                                                         \
        return g;                                                                                            \
    }                                                                                                        \
                                                                                                             \
    static inline void pawl_##name##_guard_release(pawl_##name##_guard *g)                                   \
    {                                                                                                        \
        PAWL_CALL(name, form, unlock, g->lock, &g->c);                                                       \
    }

#define PAWL_LOCK(name, form, ...) PAWL_GUARD_DEFINE(name, form)
#include "locks.def"
#undef PAWL_LOCK

/* The second variable is there for its initialiser, which locks: the first part of a `for` is one declaration. */
#define PAWL_GUARD_DECLARE(name, l, g)                                                                       \
    pawl_##name##_guard g __attribute__((cleanup(pawl_##name##_guard_release))) = {.lock = (l)},             \
                          *PAWL_GUARD_NAME(g, taken) __attribute__((unused)) = pawl_##name##_guard_take(&g)

/* One turn by a jump, not by a condition: then an optimising compiler sees that a block which always returns does so,
 * and asks for no return after it. */
#define PAWL_GUARD_BLOCK(name, l, g, end)                                                                    \
    for (PAWL_GUARD_DECLARE(name, l, g);; __extension__({ goto end; }))                                      \
        if (0) {                                                                                             \
        end:                                                                                                 \
            break;                                                                                           \
        } else

#define PAWL_GUARD_JOIN(a, b) a##_##b
#define PAWL_GUARD_NAME(a, b) PAWL_GUARD_JOIN(a, b)
#define PAWL_GUARD_LOCK(name, l)                                                                             \
    PAWL_GUARD_BLOCK(name, l, PAWL_GUARD_NAME(pawl_guard, __LINE__),                                         \
                     PAWL_GUARD_NAME(pawl_guard_end, __LINE__))
#define PAWL_HOLD_LOCK(name, l) PAWL_GUARD_DECLARE(name, l, PAWL_GUARD_NAME(pawl_guard, __LINE__))
#define PAWL_GUARD(m)           PAWL_GUARD_LOCK(mutex, m)
#define PAWL_HOLD(m)            PAWL_HOLD_LOCK(mutex, m)
