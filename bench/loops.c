/* loops.c - the measured loops, expanded for every lock */
#include "loops.h"
#include "ticks.h"

#include <pawl.h>
#include <pawl/fairmutex.h>
#include <pawl/mutex.h>

#include <pthread.h>
#include <string.h>

/* glibc's mutex in the dress of a Pawl lock: all-zero is its default initialiser. */
typedef pthread_mutex_t pawl_pthread;
typedef pawl_no_ctx pawl_pthread_ctx;

static inline void pawl_pthread_lock(pawl_pthread *l, pawl_pthread_ctx *c)
{
    (void)c;
    pthread_mutex_lock(l);
}

static inline void pawl_pthread_unlock(pawl_pthread *l, pawl_pthread_ctx *c)
{
    (void)c;
    pthread_mutex_unlock(l);
}

static inline void pawl_pthread_destroy(pawl_pthread *l)
{
    pthread_mutex_destroy(l);
}

/* Pawl's mutexes, which need no context and no destruction. */
#define MUTEX(name)                                                                                          \
    typedef pawl_##name pawl_pawl_##name;                                                                    \
    typedef pawl_no_ctx pawl_pawl_##name##_ctx;                                                              \
    static inline void pawl_pawl_##name##_lock(pawl_##name *l, pawl_no_ctx *c)                               \
    {                                                                                                        \
        (void)c;                                                                                             \
        pawl_##name##_lock(l);                                                                               \
    }                                                                                                        \
    static inline void pawl_pawl_##name##_unlock(pawl_##name *l, pawl_no_ctx *c)                             \
    {                                                                                                        \
        (void)c;                                                                                             \
        pawl_##name##_unlock(l);                                                                             \
    }                                                                                                        \
    static inline void pawl_pawl_##name##_destroy(pawl_##name *l)                                            \
    {                                                                                                        \
        (void)l;                                                                                             \
    }
MUTEX(mutex)
MUTEX(fairmutex)
#undef MUTEX

#define OTHER_LOCKS OTHER_LOCK(pawl_mutex) OTHER_LOCK(pawl_fairmutex) OTHER_LOCK(pthread)

typedef union any_ctx {
#define PAWL_LOCK(name, ...) pawl_##name##_ctx name;
#define OTHER_LOCK(name)     pawl_##name##_ctx name;
#include <pawl/locks.def>
    OTHER_LOCKS
#undef OTHER_LOCK
#undef PAWL_LOCK
} any_ctx;

typedef void lock_function(void *lock, any_ctx *c);

/* One acquisition in so many is timed: often enough for a tail, too seldom to slow the others down. */
enum { TIMED = 64 };

static inline uint64_t outside_steps(const bench_load *load, generator *own)
{
    if (!load->ncs_random)
        return load->ncs;
    return (generator_next(own) >> 32) * load->ncs >> 32; /* ncs fits into 32 bits */
}

/* The template of all loops. Its function arguments are constants wherever it is expanded, so that they are
 * inlined and no call is left but the lock's own. */
static inline __attribute__((always_inline)) void work(bench_worker *w, lock_function *lock,
                                                       lock_function *unlock)
{
    bench_shared *s = w->shared;
    const bench_load load = s->load;
    generator own = w->own;
    uint64_t count = 0, worst = 0;
    int phase, before = BENCH_WARM_UP;
    while ((phase = atomic_load_explicit(&s->phase, memory_order_relaxed)) != BENCH_STOP) {
        any_ctx c;
        uint64_t since = 0;
        /* The first of the measured phase too: a slow lock may not reach another multiple. */
        bool timed = count % TIMED == 0 || phase != before;
        before = phase;
        if (timed)
            since = ticks();
        lock(s->lock, &c);
        if (timed) {
            int64_t waited = (int64_t)(ticks() - since); /* negative if two CPUs' clocks are apart */
            if (phase == BENCH_MEASURE && waited > (int64_t)worst)
                worst = (uint64_t)waited;
        }
        generator_advance(&s->data, load.cs);
        unlock(s->lock, &c);
        atomic_store_explicit(&w->count, ++count, memory_order_relaxed);
        generator_advance(&own, outside_steps(&load, &own));
    }
    w->worst_wait = worst;
    w->own = own; /* so that the steps outside are not optimised away */
}

static inline __attribute__((always_inline)) void pairs(bench_shared *s, uint64_t n, lock_function *lock,
                                                        lock_function *unlock)
{
    while (n-- > 0) {
        any_ctx c;
        lock(s->lock, &c);
        unlock(s->lock, &c);
    }
}

#define LOOPS(name, has_destroy)                                                                             \
    _Static_assert(sizeof(pawl_##name) <= BENCH_LOCK_ROOM, "BENCH_LOCK_ROOM is too small for " #name);       \
    static inline void lock_##name(void *l, any_ctx *c)                                                      \
    {                                                                                                        \
        pawl_##name##_lock((pawl_##name *)l, &c->name);                                                      \
    }                                                                                                        \
    static inline void unlock_##name(void *l, any_ctx *c)                                                    \
    {                                                                                                        \
        pawl_##name##_unlock((pawl_##name *)l, &c->name);                                                    \
    }                                                                                                        \
    static void work_##name(bench_worker *w)                                                                 \
    {                                                                                                        \
        work(w, lock_##name, unlock_##name);                                                                 \
    }                                                                                                        \
    static void pairs_##name(bench_shared *s, uint64_t n)                                                    \
    {                                                                                                        \
        pairs(s, n, lock_##name, unlock_##name);                                                             \
    }                                                                                                        \
    static void destroy_##name(bench_shared *s)                                                              \
    {                                                                                                        \
        (void)s;                                                                                             \
        PAWL_IF(has_destroy, pawl_##name##_destroy((pawl_##name *)s->lock), );                               \
    }
#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, has_destroy, ...)              \
    LOOPS(name, has_destroy)
#define OTHER_LOCK(name) LOOPS(name, yes)
#include <pawl/locks.def>
OTHER_LOCKS
#undef OTHER_LOCK
#undef PAWL_LOCK

#define LINE(name, sleeps)   {#name, sizeof(pawl_##name), sleeps, work_##name, pairs_##name, destroy_##name},
#define PAWL_LOCK(name, ...) LINE(name, false)
#define OTHER_LOCK(name)     LINE(name, true)
const bench_lock bench_locks[] = {
#include <pawl/locks.def>
    OTHER_LOCKS};

const size_t bench_lock_count = sizeof bench_locks / sizeof bench_locks[0];

const bench_lock *bench_lock_find(const char *name)
{
    for (size_t i = 0; i < bench_lock_count; i++)
        if (strcmp(bench_locks[i].name, name) == 0)
            return &bench_locks[i];
    return NULL;
}
