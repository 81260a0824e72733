/* queues.c - queues over Pawl's locks and its condition variable */
#include "queue.h"
#include "adapter.h"

#include <pawl/cond.h>

#define PAWL_LOCK(name, form, ...)                                                                           \
    BENCH_PAWL(name, form)                                                                                   \
    typedef pawl_cond bench_##name##_cond;                                                                   \
    BENCH_NO_COND_INIT(name)                                                                                 \
    static inline void bench_##name##_wait(pawl_cond *cond, bench_##name *l, bench_##name##_ctx *c)          \
    {                                                                                                        \
        (void)c;                                                                                             \
        PAWL_IF(                                                                                             \
            form, REQUEUE, pawl_cond_wait(cond, l),                                                          \
            (void)PAWL_COND_PARTS(cond, bench_##name##_unlock(l, c), bench_##name##_lock(l, c), 0, NULL));   \
    }                                                                                                        \
    static inline void bench_##name##_signal(pawl_cond *cond)                                                \
    {                                                                                                        \
        pawl_cond_signal(cond);                                                                              \
    }                                                                                                        \
    BENCH_QUEUE_LOOPS(name)
#include <pawl/locks.def>
#undef PAWL_LOCK

extern const bench_queue bench_queues_pawl[];
const bench_queue bench_queues_pawl[] = {
#define PAWL_LOCK(name, form, ...)                                                                           \
    BENCH_QUEUE(name, PAWL_SHOWN(name, form), false, PAWL_IF(form, DEADLINE, BENCH_SLEEPS, BENCH_BY_POLICY)),
#include <pawl/locks.def>
#undef PAWL_LOCK
    BENCH_QUEUE_END,
};
