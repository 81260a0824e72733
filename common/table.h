/* table.h - the register as data: every lock's properties, and its functions behind pointers
 *
 * For whoever handles locks by name: `pawl list`, the tests, the checker. Benchmarks do not use the
 * pointers; they expand the register themselves, so that the locks are inlined.
 */
#pragma once

#include <pawl.h>

#include <stdalign.h>
#include <string.h>

/* Room for the context of any lock. */
typedef union lock_ctx {
#define PAWL_LOCK(name, ...) pawl_##name##_ctx name;
#include <pawl/locks.def>
#undef PAWL_LOCK
} lock_ctx;

/* Room for any lock. */
typedef union lock_memory {
#define PAWL_LOCK(name, ...) pawl_##name name;
#include <pawl/locks.def>
#undef PAWL_LOCK
} lock_memory;

typedef struct lock_info {
    const char *name;
    const char *title;
    const char *source;
    pawl_order order;
    int each, total; /* overtakes of a waiting thread, or PAWL_UNBOUNDED */
    bool constant_unlock;
    bool prompt;    /* the next owner may free the lock */
    bool oblivious; /* another thread may unlock        */
    bool context;   /* unlock needs what lock returned  */
    size_t size, thread_bytes, held_bytes, idle_bytes;
    pawl_waiting waiting;
    void (*lock)(void *l, lock_ctx *c);
    bool (*trylock)(void *l, lock_ctx *c); /* NULL if there is none */
    void (*unlock)(void *l, lock_ctx *c);
    void (*destroy)(void *l); /* NULL if there is none */
} lock_info;

#define PAWL_LOCK(name, title, source, order, each, total, constant, try_, destroy_, prompt, oblivious, thread, \
                  held, idle, waiting)                                                                          \
    static void table_##name##_lock(void *l, lock_ctx *c)                                                       \
    {                                                                                                           \
        pawl_##name##_lock((pawl_##name *)l, &c->name);                                                         \
    }                                                                                                           \
    static void table_##name##_unlock(void *l, lock_ctx *c)                                                     \
    {                                                                                                           \
        pawl_##name##_unlock((pawl_##name *)l, &c->name);                                                       \
    }                                                                                                           \
    PAWL_IF(                                                                                                    \
        try_, static bool table_##name##_trylock(void *l, lock_ctx *c) {                                        \
            return pawl_##name##_trylock((pawl_##name *)l, &c->name);                                           \
        }, )                                                                                                    \
    PAWL_IF(                                                                                                    \
        destroy_, static void table_##name##_destroy(void *l) { pawl_##name##_destroy((pawl_##name *)l); }, )
#include <pawl/locks.def>
#undef PAWL_LOCK

#define PAWL_LOCK(name_, title_, source_, order_, each_, total_, constant, try_, destroy_, prompt_, oblivious_, \
                  thread, held, idle, waiting_)                                                                 \
    {.name = #name_,                                                                                            \
     .title = title_,                                                                                           \
     .source = source_,                                                                                         \
     .order = PAWL_##order_,                                                                                    \
     .each = each_,                                                                                             \
     .total = total_,                                                                                           \
     .constant_unlock = PAWL_BOOL(constant),                                                                    \
     .prompt = PAWL_BOOL(prompt_),                                                                              \
     .oblivious = PAWL_BOOL(oblivious_),                                                                        \
     .context = _Generic((pawl_##name_##_ctx *)0, pawl_no_ctx * : false, default : true),                       \
     .size = sizeof(pawl_##name_),                                                                              \
     .thread_bytes = thread,                                                                                    \
     .held_bytes = held,                                                                                        \
     .idle_bytes = idle,                                                                                        \
     .waiting = PAWL_##waiting_,                                                                                \
     .lock = table_##name_##_lock,                                                                              \
     .trylock = PAWL_IF(try_, table_##name_##_trylock, NULL),                                                   \
     .unlock = table_##name_##_unlock,                                                                          \
     .destroy = PAWL_IF(destroy_, table_##name_##_destroy, NULL)},
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
