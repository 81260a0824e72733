/* register.h - the register as data: every lock's properties, and its functions behind pointers
 *
 * For whoever handles locks by name: `pawl list`, the tests, the checker. Benchmarks do not use the
 * pointers; they expand the register themselves, so that the locks are inlined.
 */
#pragma once

#include <pawl/locks.h>

#include <string.h>

/* Room for the context of any lock. */
typedef union pawl_any_ctx {
#define PAWL_LOCK(name, form, ...) PAWL_CTX_OF(name, form) name;
#include <pawl/locks.def>
#undef PAWL_LOCK
} lock_ctx;

/* Room for any lock. */
typedef union pawl_any_lock {
#define PAWL_LOCK(name, ...) pawl_##name name;
#include <pawl/locks.def>
#undef PAWL_LOCK
} lock_memory;

typedef pawl_lock_info lock_info;

#define LOCK_CALL(name, form, function)                                                                      \
    static void table_##name##_##function(void *l, lock_ctx *c)                                              \
    {                                                                                                        \
        PAWL_CALL(name, form, function, (pawl_##name *)l, &c->name);                                         \
    }

#define PAWL_LOCK(name, form, ...)                                                                           \
    LOCK_CALL(name, form, lock)                                                                              \
    LOCK_CALL(name, form, unlock)                                                                            \
    PAWL_IF(                                                                                                 \
        form, TRYLOCK, static bool table_##name##_trylock(void *l, lock_ctx *c) {                            \
            return PAWL_CALL(name, form, trylock, (pawl_##name *)l, &c->name);                               \
        }, )                                                                                                 \
    PAWL_IF(form, OBLIVIOUS, LOCK_CALL(name, form, acquire_oblivious), )                                     \
    PAWL_IF(form, IDLE, LOCK_CALL(name, form, release_idle), )                                               \
    PAWL_IF(                                                                                                 \
        form, DESTROY,                                                                                       \
        static void table_##name##_destroy(void *l) { pawl_##name##_destroy((pawl_##name *)l); }, )          \
    PAWL_IF(                                                                                                 \
        form, DEADLINE, static int table_##name##_clocklock(void *l, int clock, const struct timespec *t) {  \
            return pawl_##name##_clocklock((pawl_##name *)l, clock, t);                                      \
        }, )
#include <pawl/locks.def>
#undef PAWL_LOCK

#define PAWL_LOCK(name_, form, room_, ...)                                                                   \
    {.name = PAWL_SHOWN(name_, form),                                                                        \
     .room = room_,                                                                                          \
     .context = !__builtin_types_compatible_p(PAWL_CTX_OF(name_, form), pawl_no_ctx),                        \
     .own_waiting = PAWL_HAS(form, DEADLINE),                                                                \
     .size = sizeof(pawl_##name_),                                                                           \
     .lock = table_##name_##_lock,                                                                           \
     .unlock = table_##name_##_unlock,                                                                       \
     .trylock = PAWL_IF(form, TRYLOCK, table_##name_##_trylock, NULL),                                       \
     .acquire_oblivious = PAWL_IF(form, OBLIVIOUS, table_##name_##_acquire_oblivious, NULL),                 \
     .release_idle = PAWL_IF(form, IDLE, table_##name_##_release_idle, NULL),                                \
     .destroy = PAWL_IF(form, DESTROY, table_##name_##_destroy, NULL),                                       \
     .clocklock = PAWL_IF(form, DEADLINE, table_##name_##_clocklock, NULL),                                  \
     __VA_ARGS__},
static const lock_info lock_table[] = {
#include <pawl/locks.def>
};
#undef PAWL_LOCK

enum { LOCK_COUNT = sizeof lock_table / sizeof lock_table[0] };

static inline const lock_info *lock_find(const char *name)
{
    for (int i = 0; i < LOCK_COUNT; i++)
        if (strcmp(lock_table[i].name, name) == 0)
            return &lock_table[i];
    return NULL;
}
