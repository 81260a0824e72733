/* locks.c - the measured loops of Pawl's own locks: the register's, and the mutexes */
#include "loops.h"

#include <pawl.h>
#include <pawl/fairmutex.h>
#include <pawl/mutex.h>

#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, has_destroy, ...)              \
    typedef pawl_##name bench_##name;                                                                        \
    typedef pawl_##name##_ctx bench_##name##_ctx;                                                            \
    BENCH_NO_INIT(name)                                                                                      \
    BENCH_NO_ATTACH(name)                                                                                    \
    static inline void bench_##name##_lock(bench_##name *l, bench_##name##_ctx *c)                           \
    {                                                                                                        \
        pawl_##name##_lock(l, c);                                                                            \
    }                                                                                                        \
    static inline void bench_##name##_unlock(bench_##name *l, bench_##name##_ctx *c)                         \
    {                                                                                                        \
        pawl_##name##_unlock(l, c);                                                                          \
    }                                                                                                        \
    static inline void bench_##name##_destroy(bench_##name *l)                                               \
    {                                                                                                        \
        (void)l;                                                                                             \
        PAWL_IF(has_destroy, pawl_##name##_destroy(l), );                                                    \
    }                                                                                                        \
    BENCH_LOOPS(name)
#include <pawl/locks.def>
#undef PAWL_LOCK

BENCH_PLAIN(mutex, pawl_mutex, pawl_mutex_lock, pawl_mutex_unlock)
BENCH_NO_INIT(mutex)
BENCH_NO_DESTROY(mutex)
BENCH_LOOPS(mutex)

/* As other languages have it, and for comparison with libraries that have no inline functions. */
BENCH_PLAIN(mutex_call, pawl_mutex, pawl_mutex_lock_call, pawl_mutex_unlock_call)
BENCH_NO_INIT(mutex_call)
BENCH_NO_DESTROY(mutex_call)
BENCH_LOOPS(mutex_call)

BENCH_PLAIN(fairmutex, pawl_fairmutex, pawl_fairmutex_lock, pawl_fairmutex_unlock)
BENCH_NO_INIT(fairmutex)
BENCH_NO_DESTROY(fairmutex)
BENCH_LOOPS(fairmutex)

/* The compiler must not move the critical section out of its loop: a lock would not let it, either. */
static inline void nothing(void *l)
{
    (void)l;
    __asm__ volatile("" ::: "memory");
}

BENCH_PLAIN(none, char, nothing, nothing)
BENCH_NO_INIT(none)
BENCH_NO_DESTROY(none)
BENCH_LOOPS(none)

const bench_lock bench_no_lock = BENCH_LOCK(none, "(none)", false, BENCH_SPINS);

extern const bench_lock bench_set_pawl[];
const bench_lock bench_set_pawl[] = {
#define PAWL_LOCK(name, ...) BENCH_LOCK(name, #name, false, BENCH_BY_POLICY),
#include <pawl/locks.def>
#undef PAWL_LOCK
    BENCH_LOCK(mutex, "pawl_mutex", false, BENCH_SLEEPS),
    BENCH_LOCK(mutex_call, "pawl_mutex_call", false, BENCH_SLEEPS),
    BENCH_LOCK(fairmutex, "pawl_fairmutex", false, BENCH_SLEEPS),
    BENCH_END,
};
