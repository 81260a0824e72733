/* queue.h - a bounded queue between producers and consumers, as a template over a lock and its condition variable
 *
 * An adapter is that of loops.h and, for condition variables, a type bench_<name>_cond, all-zero at first, with
 *
 *   cond_init(cond)            once
 *   wait(cond, lock, ctx)      with the lock held; may return for no reason
 *   signal(cond)               with the lock held
 *
 * BENCH_QUEUE_LOOPS(name) then expands the loops, and BENCH_QUEUE(name, ...) is its line in the library's set.
 */
#pragma once

#include "loops.h"

/* Which of the shared places holds what. */
enum { BENCH_QUEUE_LOCK, BENCH_NOT_FULL, BENCH_NOT_EMPTY };

/* What the lock protects. */
typedef struct bench_items {
    BENCH_ALIGNED uint64_t *item;
    unsigned places, used;
    unsigned put, take; /* where the next one goes to, and comes from */
} bench_items;

typedef void bench_cond_wait(void *cond, void *lock, void *ctx);
typedef void bench_cond_signal(void *cond);

/* One queue's calls; constants where the template is expanded. */
typedef struct bench_queue_calls {
    bench_action *lock, *unlock;
    bench_cond_wait *wait;
    bench_cond_signal *signal;
} bench_queue_calls;

/* All different, and a few of them hardly ever have the same sum as others (SplitMix64's mixer). */
static inline uint64_t bench_item_of(unsigned producer, uint64_t number)
{
    uint64_t z = ((uint64_t)producer << 48) + number + 1;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline unsigned bench_next_place(unsigned place, unsigned places)
{
    return place + 1 < places ? place + 1 : 0;
}

static inline bool bench_stopped(const bench_shared *s)
{
    return bench_phase_now(s) == BENCH_STOP;
}

/* A thread that ends wakes one of each kind, which ends and does the same, so nobody is left asleep. Whoever gets the
 * lock afterwards sees that it is over, and no longer sleeps. */
BENCH_TEMPLATE bench_queue_leave(bench_shared *s, void *c, bench_queue_calls call)
{
    call.lock(s->locks[BENCH_QUEUE_LOCK], c);
    call.signal(s->locks[BENCH_NOT_FULL]);
    call.signal(s->locks[BENCH_NOT_EMPTY]);
    call.unlock(s->locks[BENCH_QUEUE_LOCK], c);
}

BENCH_TEMPLATE bench_produce(bench_worker *w, void *c, bench_queue_calls call)
{
    bench_shared *s = w->shared;
    bench_items *q = (bench_items *)s->extra;
    uint64_t count = 0;
    while (!bench_stopped(s)) {
        uint64_t item = bench_item_of(w->index, count);
        call.lock(s->locks[BENCH_QUEUE_LOCK], c);
        while (q->used == q->places && !bench_stopped(s))
            call.wait(s->locks[BENCH_NOT_FULL], s->locks[BENCH_QUEUE_LOCK], c);
        bool room = q->used < q->places;
        if (room) {
            q->item[q->put] = item;
            q->put = bench_next_place(q->put, q->places);
            q->used++;
            call.signal(s->locks[BENCH_NOT_EMPTY]);
        }
        call.unlock(s->locks[BENCH_QUEUE_LOCK], c);
        w->sum += room ? item : 0;
        bench_counted(w, count += room);
    }
    bench_queue_leave(s, c, call);
}

BENCH_TEMPLATE bench_consume(bench_worker *w, void *c, bench_queue_calls call)
{
    bench_shared *s = w->shared;
    bench_items *q = (bench_items *)s->extra;
    uint64_t count = 0;
    while (!bench_stopped(s)) {
        uint64_t item = 0;
        call.lock(s->locks[BENCH_QUEUE_LOCK], c);
        while (q->used == 0 && !bench_stopped(s))
            call.wait(s->locks[BENCH_NOT_EMPTY], s->locks[BENCH_QUEUE_LOCK], c);
        bool found = q->used > 0;
        if (found) {
            item = q->item[q->take];
            q->take = bench_next_place(q->take, q->places);
            q->used--;
            call.signal(s->locks[BENCH_NOT_FULL]);
        }
        call.unlock(s->locks[BENCH_QUEUE_LOCK], c);
        w->sum += item;
        bench_counted(w, count += found);
    }
    bench_queue_leave(s, c, call);
}

#define BENCH_QUEUE_LOOPS(name)                                                                              \
    BENCH_ASSERT(sizeof(bench_##name) <= BENCH_LOCK_ROOM, "BENCH_LOCK_ROOM is too small for " #name);        \
    BENCH_ASSERT(sizeof(bench_##name##_cond) <= BENCH_LOCK_ROOM, "and for its condition variable");          \
    static inline void bench_queue_##name##_lock(void *l, void *c)                                           \
    {                                                                                                        \
        bench_##name##_lock((bench_##name *)l, (bench_##name##_ctx *)c);                                     \
    }                                                                                                        \
    static inline void bench_queue_##name##_unlock(void *l, void *c)                                         \
    {                                                                                                        \
        bench_##name##_unlock((bench_##name *)l, (bench_##name##_ctx *)c);                                   \
    }                                                                                                        \
    static inline void bench_queue_##name##_wait(void *cond, void *l, void *c)                               \
    {                                                                                                        \
        bench_##name##_wait((bench_##name##_cond *)cond, (bench_##name *)l, (bench_##name##_ctx *)c);        \
    }                                                                                                        \
    static inline void bench_queue_##name##_signal(void *cond)                                               \
    {                                                                                                        \
        bench_##name##_signal((bench_##name##_cond *)cond);                                                  \
    }                                                                                                        \
    static const bench_queue_calls bench_queue_##name##_calls = {                                            \
        bench_queue_##name##_lock, bench_queue_##name##_unlock, bench_queue_##name##_wait,                   \
        bench_queue_##name##_signal};                                                                        \
    static void bench_queue_##name##_init(bench_shared *s)                                                   \
    {                                                                                                        \
        bench_##name##_init((bench_##name *)(void *)s->locks[BENCH_QUEUE_LOCK]);                             \
        bench_##name##_cond_init((bench_##name##_cond *)(void *)s->locks[BENCH_NOT_FULL]);                   \
        bench_##name##_cond_init((bench_##name##_cond *)(void *)s->locks[BENCH_NOT_EMPTY]);                  \
    }                                                                                                        \
    static void bench_queue_##name##_produce(bench_worker *w)                                                \
    {                                                                                                        \
        bench_##name##_ctx c;                                                                                \
        bench_##name##_attach((bench_##name *)(void *)w->shared->locks[BENCH_QUEUE_LOCK], &c);               \
        bench_produce(w, &c, bench_queue_##name##_calls);                                                    \
    }                                                                                                        \
    static void bench_queue_##name##_consume(bench_worker *w)                                                \
    {                                                                                                        \
        bench_##name##_ctx c;                                                                                \
        bench_##name##_attach((bench_##name *)(void *)w->shared->locks[BENCH_QUEUE_LOCK], &c);               \
        bench_consume(w, &c, bench_queue_##name##_calls);                                                    \
    }

#define BENCH_QUEUE(name, shown, peer, waiting)                                                              \
    {                                                                                                        \
        shown, peer, waiting, bench_queue_##name##_init, bench_queue_##name##_produce,                       \
            bench_queue_##name##_consume                                                                     \
    }

#define BENCH_QUEUE_END                                                                                      \
    {                                                                                                        \
        NULL, false, BENCH_SLEEPS, NULL, NULL, NULL                                                          \
    }

/* For condition variables that are ready when all-zero. */
#define BENCH_NO_COND_INIT(name)                                                                             \
    static inline void bench_##name##_cond_init(bench_##name##_cond *c)                                      \
    {                                                                                                        \
        (void)c;                                                                                             \
    }

/* An adapter over a condition variable with one call to wait and one to signal. */
#define BENCH_PLAIN_COND(name, type, wait_call, signal_call)                                                 \
    typedef type bench_##name##_cond;                                                                        \
    static inline void bench_##name##_wait(bench_##name##_cond *cond, bench_##name *l,                       \
                                           bench_##name##_ctx *c)                                            \
    {                                                                                                        \
        (void)c;                                                                                             \
        wait_call(cond, l);                                                                                  \
    }                                                                                                        \
    static inline void bench_##name##_signal(bench_##name##_cond *cond)                                      \
    {                                                                                                        \
        signal_call(cond);                                                                                   \
    }
