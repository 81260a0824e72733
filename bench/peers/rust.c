/* rust.c - the mutexes of Rust's standard library and of parking_lot, through rust/lib.rs */
#include "bench/queue.h"

/* As in lib.rs. */
enum { ROOM = 64, GUARD_ROOM = 16 };

#define RUST(name)                                                                                           \
    typedef struct bench_##name {                                                                            \
        BENCH_ALIGNED char room[ROOM];                                                                       \
    } bench_##name, bench_##name##_cond;                                                                     \
    typedef struct bench_##name##_ctx {                                                                      \
        _Alignas(GUARD_ROOM) char guard[GUARD_ROOM];                                                         \
    } bench_##name##_ctx;                                                                                    \
    void bench_rust_##name##_init(bench_##name *l);                                                          \
    void bench_rust_##name##_cond_init(bench_##name *cond);                                                  \
    void bench_rust_##name##_lock(bench_##name *l, bench_##name##_ctx *c);                                   \
    void bench_rust_##name##_unlock(bench_##name##_ctx *c);                                                  \
    void bench_rust_##name##_wait(bench_##name *cond, bench_##name##_ctx *c);                                \
    void bench_rust_##name##_signal(bench_##name *cond);                                                     \
    BENCH_NO_ATTACH(name)                                                                                    \
    BENCH_NO_DESTROY(name)                                                                                   \
    static inline void bench_##name##_init(bench_##name *l)                                                  \
    {                                                                                                        \
        bench_rust_##name##_init(l);                                                                         \
    }                                                                                                        \
    static inline void bench_##name##_cond_init(bench_##name##_cond *cond)                                   \
    {                                                                                                        \
        bench_rust_##name##_cond_init(cond);                                                                 \
    }                                                                                                        \
    static inline void bench_##name##_lock(bench_##name *l, bench_##name##_ctx *c)                           \
    {                                                                                                        \
        bench_rust_##name##_lock(l, c);                                                                      \
    }                                                                                                        \
    static inline void bench_##name##_unlock(bench_##name *l, bench_##name##_ctx *c)                         \
    {                                                                                                        \
        (void)l;                                                                                             \
        bench_rust_##name##_unlock(c);                                                                       \
    }                                                                                                        \
    static inline void bench_##name##_wait(bench_##name##_cond *cond, bench_##name *l,                       \
                                           bench_##name##_ctx *c)                                            \
    {                                                                                                        \
        (void)l;                                                                                             \
        bench_rust_##name##_wait(cond, c);                                                                   \
    }                                                                                                        \
    static inline void bench_##name##_signal(bench_##name##_cond *cond)                                      \
    {                                                                                                        \
        bench_rust_##name##_signal(cond);                                                                    \
    }                                                                                                        \
    BENCH_LOOPS(name)                                                                                        \
    BENCH_QUEUE_LOOPS(name)

RUST(std)
RUST(parking_lot)

extern const bench_lock bench_set_rust[];
const bench_lock bench_set_rust[] = {
    BENCH_LOCK(std, "rust_std", true, BENCH_SLEEPS),
    BENCH_LOCK(parking_lot, "parking_lot", true, BENCH_SLEEPS),
    BENCH_END,
};

extern const bench_queue bench_queues_rust[];
const bench_queue bench_queues_rust[] = {
    BENCH_QUEUE(std, "rust_std", true, BENCH_SLEEPS),
    BENCH_QUEUE(parking_lot, "parking_lot", true, BENCH_SLEEPS),
    BENCH_QUEUE_END,
};
