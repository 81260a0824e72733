/* adapter.h - what loops.h and queue.h want of a lock, for a row of the register */
#pragma once

#include "loops.h"

#include <pawl.h>

#define BENCH_PAWL(name, form)                                                                               \
    typedef pawl_##name bench_##name;                                                                        \
    typedef PAWL_CTX_OF(name, form) bench_##name##_ctx;                                                      \
    BENCH_NO_INIT(name)                                                                                      \
    BENCH_NO_ATTACH(name)                                                                                    \
    static inline void bench_##name##_lock(bench_##name *l, bench_##name##_ctx *c)                           \
    {                                                                                                        \
        PAWL_CALL(name, form, lock, l, c);                                                                   \
    }                                                                                                        \
    static inline void bench_##name##_unlock(bench_##name *l, bench_##name##_ctx *c)                         \
    {                                                                                                        \
        PAWL_CALL(name, form, unlock, l, c);                                                                 \
    }
