/* layout.h - what a pthread_mutex_t holds
 *
 *   0    the lock or its context, see fits.h          16   kind: glibc's, also in static initialisers
 *   8    owner: the tid, as glibc has it, or 0        20   meta: ours
 *   12   the lock's, if it has holes                  24   the lock or its context; of a lock of one word with no
 *                                                          context the first byte: taken by a handler's mailbox
 *                                                          (Hemlock, nested.c)
 *
 *   meta   bit  0..19   how often the owner of a recursive mutex has locked it again
 *              20       somebody waits with a deadline (timed.c)
 *              21       such a one was served last
 *              22..31   the era (era.h) in which the mutex was used last; 0: never, or initialised statically
 *
 * `kind` and `meta` are read as one word: a normal mutex of this era, of which nothing is to be remembered, is told
 * from all others by one comparison.
 */
#pragma once

#include <pawl/detail/atomic.h>

#include <pthread.h>

typedef struct body {
    char first[8];
    _Atomic(uint32_t) owner;
    char second[4];
    union {
        _Atomic(uint64_t) head; /* of a little-endian machine: kind | meta << 32 */
        struct {
            _Atomic(int32_t) kind;
            _Atomic(uint32_t) meta;
        };
    };
    char third[16];
} body;

_Static_assert(sizeof(body) == 40 && sizeof(body) <= sizeof(pthread_mutex_t), "a body is a mutex");
_Static_assert(offsetof(pthread_mutex_t, __data.__owner) == offsetof(body, owner),
               "the owner keeps its place");
_Static_assert(offsetof(pthread_mutex_t, __data.__kind) == offsetof(body, kind), "the kind keeps its place");

enum {
    META_DEPTH = (1 << 20) - 1,
    META_TIMED = 1 << 20,
    META_TURN = 1 << 21,
    META_ERA_SHIFT = 22,
    META_ERAS = 1 << 10,
};
#define META_ERA    ((uint32_t)(META_ERAS - 1) << META_ERA_SHIFT)
#define META_NO_ERA META_ERA /* while the mutex is being made new */

/* Of glibc's __kind. */
enum {
    KIND_NORMAL,
    KIND_RECURSIVE,
    KIND_ERRORCHECK,
    KIND_ADAPTIVE,
    KIND_FORWARDED = 16 | 32 | 64 | 128, /* robust, priority-inherit, priority-protect, process-shared */
    KIND_ELISION = 256 | 512,            /* wanted or not: 512 is in every kind that was set to normal */
};

static inline body *body_of(pthread_mutex_t *m)
{
    return (body *)m;
}

static inline int kind_of(const body *b)
{
    return atomic_load_explicit(&b->kind, memory_order_relaxed);
}

static inline int type_of(const body *b)
{
    return kind_of(b) & ~KIND_ELISION;
}

/* Its owner matters. */
static inline bool is_checked(const body *b)
{
    int type = type_of(b);
    return type == KIND_RECURSIVE || type == KIND_ERRORCHECK;
}

static inline uint32_t meta_of(const body *b)
{
    return atomic_load_explicit(&b->meta, memory_order_relaxed);
}

static inline uint32_t owner_of(const body *b)
{
    return atomic_load_explicit(&b->owner, memory_order_relaxed);
}

static inline void set_owner(body *b, uint32_t tid)
{
    atomic_store_explicit(&b->owner, tid, memory_order_relaxed);
}
