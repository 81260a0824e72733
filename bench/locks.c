/* locks.c - the measured loops of Pawl's own locks */
#include "adapter.h"

#define PAWL_LOCK(name, form, ...)                                                                           \
    BENCH_PAWL(name, form)                                                                                   \
    static inline void bench_##name##_destroy(bench_##name *l)                                               \
    {                                                                                                        \
        PAWL_IF(form, DESTROY, pawl_##name##_destroy(l), (void)l);                                           \
    }                                                                                                        \
    BENCH_LOOPS(name)
#include <pawl/locks.def>
#undef PAWL_LOCK

/* pawl_mutex through calls, as other languages use it, and to compare with libraries without inline functions. */
BENCH_PLAIN(mutex_call, pawl_mutex, pawl_mutex_lock_call, pawl_mutex_unlock_call)
BENCH_NO_INIT(mutex_call)
BENCH_NO_DESTROY(mutex_call)
BENCH_LOOPS(mutex_call)

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
#define PAWL_LOCK(name, form, ...)                                                                           \
    BENCH_LOCK(name, PAWL_SHOWN(name, form), false, PAWL_IF(form, DEADLINE, BENCH_SLEEPS, BENCH_BY_POLICY)),
#include <pawl/locks.def>
#undef PAWL_LOCK
    BENCH_LOCK(mutex_call, "pawl_mutex_call", false, BENCH_SLEEPS),
    BENCH_END,
};
