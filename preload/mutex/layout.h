/* layout.h - what a pthread_mutex_t holds
 *
 *   0    the lock or its context, see fits.h          16   kind: glibc's, also in static initialisers
 *   8    owner: the tid, as in glibc, or 0            20   meta: ours
 *   12   the lock's, if it has holes                  24   the lock or its context. Hemlock, one word without a
 *                                                          context: byte 24 is set while a signal handler's
 *                                                          mailbox holds the lock (reentry.c)
 *
 *   meta   bit  0..19   how many times the owner of a recursive mutex has relocked it
 *              20       a thread waits with a deadline (timed.c)
 *              21       the last hand-off went to such a thread
 *              22..31   the epoch (epoch.h) of the last use; 0: never used, or statically initialised
 *
 * `kind` and `meta` are read as one word. One comparison tells a normal mutex of this epoch, not relocked and without
 * timed waiters, from all others.
 */
#pragma once

#include <pawl/detail/atomic.h>

#include <pthread.h>

typedef struct mutex {
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
} mutex;

_Static_assert(sizeof(mutex) == 40 && sizeof(mutex) <= sizeof(pthread_mutex_t),
               "it fits into a pthread_mutex_t");
_Static_assert(offsetof(pthread_mutex_t, __data.__owner) == offsetof(mutex, owner),
               "the owner keeps its place");
_Static_assert(offsetof(pthread_mutex_t, __data.__kind) == offsetof(mutex, kind), "the kind keeps its place");

enum {
    META_DEPTH = (1 << 20) - 1,
    META_TIMED = 1 << 20,
    META_TIMED_LAST = 1 << 21,
    META_EPOCH_SHIFT = 22,
    META_EPOCHS = 1 << 10,
};
#define META_EPOCH    ((uint32_t)(META_EPOCHS - 1) << META_EPOCH_SHIFT)
#define META_RENEWING META_EPOCH /* a thread is resetting the mutex (adopt.c) */

/* Bits of glibc's __kind. */
enum {
    KIND_NORMAL,
    KIND_RECURSIVE,
    KIND_ERRORCHECK,
    KIND_ADAPTIVE,
    KIND_TYPE = 3,
    KIND_FORWARDED = 16 | 32 | 64 | 128, /* robust, priority-inherit, priority-protect, process-shared */
    KIND_ELISION = 256 | 512,            /* on or off; 512 is in every kind set explicitly to normal */
};

static inline mutex *mutex_of(pthread_mutex_t *object)
{
    return (mutex *)object;
}

static inline int kind_of(const mutex *m)
{
    return atomic_load_explicit(&m->kind, memory_order_relaxed);
}

static inline int type_of(const mutex *m)
{
    return kind_of(m) & ~KIND_ELISION;
}

/* glibc's functions handle it. */
static inline bool is_glibcs(const mutex *m)
{
    return (kind_of(m) & KIND_FORWARDED) != 0;
}

/* Whether relock and unlock depend on the owner. */
static inline bool is_checked(const mutex *m)
{
    int type = type_of(m);
    return type == KIND_RECURSIVE || type == KIND_ERRORCHECK;
}

static inline uint32_t meta_of(const mutex *m)
{
    return atomic_load_explicit(&m->meta, memory_order_relaxed);
}

static inline uint32_t owner_of(const mutex *m)
{
    return atomic_load_explicit(&m->owner, memory_order_relaxed);
}

static inline void set_owner(mutex *m, uint32_t tid)
{
    atomic_store_explicit(&m->owner, tid, memory_order_relaxed);
}
