/* loops.h - the measured loops, as templates that take a lock inlined into them
 *
 * A lock is an adapter: a type bench_<name>, all-zero at first, its context bench_<name>_ctx, and five functions
 *
 *   init(lock)            once
 *   attach(lock, ctx)     once for each thread and context, which then stays with the thread
 *   lock(lock, ctx)
 *   unlock(lock, ctx)
 *   destroy(lock)
 *
 * BENCH_LOOPS(name) then expands the loops, and BENCH_LOCK(name, ...) is its line in the library's set.
 */
#pragma once

#include "lock.h"
#include "ticks.h"

#include <string.h>

typedef void bench_action(void *lock, void *ctx);

#define BENCH_TEMPLATE static inline __attribute__((always_inline)) void

/* While acquisitions are fast, one in so many is timed: often enough for a tail, too rarely to slow them down. Once
 * they take longer than `slow` on average, every one is timed, because reading the clock then hardly counts. */
enum { BENCH_TIMED = 64 };

typedef struct bench_watch {
    uint64_t next;     /* count at which to look at the clock again */
    uint64_t interval; /* acquisitions                              */
    uint64_t last;     /* ticks                                     */
    uint64_t worst, longest;
} bench_watch;

BENCH_TEMPLATE bench_watch_note(bench_watch *t, const bench_shared *s, uint64_t count, uint64_t asked,
                                uint64_t got, bool measured)
{
    /* Negative if two CPUs' clocks are apart. */
    int64_t waited = (int64_t)(got - asked), gap = (int64_t)(got - t->last);
    if (measured && waited > (int64_t)t->worst)
        t->worst = (uint64_t)waited;
    if (measured && gap > (int64_t)t->longest)
        t->longest = (uint64_t)gap;
    t->interval = gap > (int64_t)(t->interval * s->slow) ? 1 : BENCH_TIMED;
    t->next = count + t->interval;
    t->last = got;
}

static inline int bench_phase_now(const bench_shared *s)
{
    return __atomic_load_n(&s->phase, __ATOMIC_RELAXED);
}

static inline void bench_counted(bench_worker *w, uint64_t count)
{
    __atomic_store_n(&w->count, count, __ATOMIC_RELAXED);
}

BENCH_TEMPLATE bench_inside(bench_shared *s, const bench_load *load)
{
    if (load->mersenne)
        mersenne_advance(&s->twister, load->cs);
    else
        generator_advance(&s->data, load->cs);
}

static inline uint64_t bench_scale(uint64_t random32, uint64_t below)
{
    return random32 * below >> 32;
}

/* The draw is the thread's own, so that no schedule of all threads can settle. */
BENCH_TEMPLATE bench_outside(bench_worker *w, generator *own, const bench_load *load)
{
    if (load->ncs == 0)
        return;
    if (load->mersenne)
        mersenne_advance(w->twister,
                         load->ncs_random ? bench_scale(mersenne_next(w->twister), load->ncs) : load->ncs);
    else
        generator_advance(own,
                          load->ncs_random ? bench_scale(generator_next(own) >> 32, load->ncs) : load->ncs);
}

/* Time goes on while a thread has lost its CPU. The difference is negative if two CPUs' clocks are apart. */
BENCH_TEMPLATE bench_pass(uint64_t wanted)
{
    uint64_t from = ticks();
    while ((int64_t)(ticks() - from) < (int64_t)wanted)
        ;
}

/* The generator is read first and written last: a thread that gets in between undoes a step, or its own is undone. */
BENCH_TEMPLATE bench_inside_timed(bench_shared *s, const bench_load *load)
{
    if (load->cs_ns == 0) {
        bench_inside(s, load);
        return;
    }
    generator g = s->data;
    __asm__ volatile("" : "+r"(g.s0), "+r"(g.s1)::"memory");
    bench_pass((uint64_t)((double)load->cs_ns * s->ticks_per_ns));
    if (load->mersenne)
        mersenne_advance(&s->twister, load->cs);
    else
        generator_advance(&g, load->cs);
    s->data = g;
}

/* Sleeps until `next`, which moves on by a period; counted from now if the wait for the lock took longer than that. */
BENCH_TEMPLATE bench_rest(uint64_t *next, uint64_t period_ns)
{
    uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC);
    *next = *next + period_ns > now ? *next + period_ns : now + period_ns;
    struct timespec until = {(time_t)(*next / PAWL_SECOND), (long)(*next % PAWL_SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

BENCH_TEMPLATE bench_outside_timed(bench_worker *w, generator *own, const bench_load *load, uint64_t *next)
{
    double per_ns = w->shared->ticks_per_ns;
    if (load->period_ns != 0)
        bench_rest(next, load->period_ns);
    else if (load->ncs_ns != 0)
        bench_pass((uint64_t)((double)(load->ncs_random ? bench_scale(generator_next(own) >> 32, load->ncs_ns)
                                                        : load->ncs_ns) *
                              per_ns));
    else
        bench_outside(w, own, load);
}

static inline uint32_t bench_log_length(const bench_shared *s)
{
    return s->log != NULL ? __atomic_load_n(&s->log->length, __ATOMIC_RELAXED) : 0;
}

static inline void bench_log_admission(bench_shared *s, unsigned who, uint32_t asked)
{
    uint32_t length = bench_log_length(s);
    if (s->log == NULL || length == BENCH_LOGGED)
        return;
    bench_admission *now = &s->log->admissions[length];
    now->who = who;
    now->asked = asked;
    __atomic_store_n(&s->log->length, length + 1, __ATOMIC_RELAXED);
}

/* `times` is a constant: where sections are steps, the loop is as if there were nothing else. */
BENCH_TEMPLATE bench_work(bench_worker *w, void *c, bench_action *lock, bench_action *unlock, bool times)
{
    bench_shared *s = w->shared;
    const bench_load load = w->load;
    generator own = w->own;
    bench_watch watch = {0, 1, ticks(), 0, 0};
    uint64_t count = 0, next = 0;
    int phase, before = BENCH_WARM_UP;
    while ((phase = bench_phase_now(s)) != BENCH_STOP) {
        /* Also the first of the measured phase: a slow lock may not reach another multiple. */
        bool timed = count == watch.next || phase != before;
        before = phase;
        uint64_t asked = 0;
        uint32_t before_me = times ? bench_log_length(s) : 0;
        if (timed)
            asked = ticks();
        lock(s->locks[0], c);
        if (timed)
            bench_watch_note(&watch, s, count, asked, ticks(), phase == BENCH_MEASURE);
        if (times && phase == BENCH_MEASURE)
            bench_log_admission(s, w->index, before_me);
        if (times)
            bench_inside_timed(s, &load);
        else
            bench_inside(s, &load);
        unlock(s->locks[0], c);
        bench_counted(w, ++count);
        if (times)
            bench_outside_timed(w, &own, &load, &next);
        else
            bench_outside(w, &own, &load);
    }
    w->worst_wait = watch.worst;
    w->starvation = watch.longest;
    w->own = own; /* so that the steps outside are not optimised away */
}

BENCH_TEMPLATE bench_record(bench_worker *w, void *c, bench_action *lock, bench_action *unlock, bool times)
{
    bench_shared *s = w->shared;
    const bench_load load = w->load;
    generator own = w->own;
    uint64_t count = 0, last = ticks(), longest = 0, next = 0;
    int phase;
    while ((phase = bench_phase_now(s)) != BENCH_STOP) {
        uint64_t asked = ticks();
        lock(s->locks[0], c);
        uint64_t got = ticks();
        if (times)
            bench_inside_timed(s, &load);
        else
            bench_inside(s, &load);
        unlock(s->locks[0], c);
        bench_counted(w, ++count);
        if (phase == BENCH_MEASURE) {
            histogram_add(w->waits, got > asked ? got - asked : 0);
            longest = got > last && got - last > longest ? got - last : longest;
        }
        last = got;
        if (times)
            bench_outside_timed(w, &own, &load, &next);
        else
            bench_outside(w, &own, &load);
    }
    w->worst_wait = w->waits->most;
    w->starvation = longest;
    w->own = own;
}

/* `c` points to as many contexts as there are locks, each `size` bytes. */
BENCH_TEMPLATE bench_lead(bench_worker *w, char *c, size_t size, bench_action *lock, bench_action *unlock)
{
    bench_shared *s = w->shared;
    uint64_t count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        for (size_t i = 0; i < BENCH_LOCKS; i++)
            lock(s->locks[i], c + i * size);
        for (size_t i = BENCH_LOCKS; i-- > 0;)
            unlock(s->locks[i], c + i * size);
        bench_counted(w, count += BENCH_LOCKS);
    }
}

BENCH_TEMPLATE bench_follow(bench_worker *w, char *c, size_t size, bench_action *lock, bench_action *unlock)
{
    bench_shared *s = w->shared;
    generator own = w->own;
    uint64_t count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        uint64_t i = bench_scale(generator_next(&own) >> 32, BENCH_LOCKS);
        lock(s->locks[i], c + i * size);
        unlock(s->locks[i], c + i * size);
        bench_counted(w, ++count);
    }
}

BENCH_TEMPLATE bench_pairs(void *l, void *c, uint64_t n, bench_action *lock, bench_action *unlock)
{
    while (n-- > 0) {
        lock(l, c);
        unlock(l, c);
    }
}

#ifdef __cplusplus
#define BENCH_ASSERT static_assert
#else
#define BENCH_ASSERT _Static_assert
#endif

/* Inlines all that is called, however much it is. Otherwise the compiler, in a file with all locks, makes calls of
 * what it would inline into a program with one lock. */
#define BENCH_FLAT __attribute__((flatten))

/* One loop of a lock. */
#define BENCH_LOOP(name, shown, loop, times)                                                                 \
    static BENCH_FLAT void bench_do_##name##_##shown(bench_worker *w)                                        \
    {                                                                                                        \
        bench_##name##_ctx c;                                                                                \
        bench_##name##_attach((bench_##name *)(void *)w->shared->locks[0], &c);                              \
        bench_##loop(w, &c, bench_do_##name##_lock, bench_do_##name##_unlock, times);                        \
    }

/* Function arguments are constants here, so that they are inlined and no call is left but the lock's own. */
#define BENCH_LOOPS(name)                                                                                    \
    BENCH_ASSERT(sizeof(bench_##name) <= BENCH_LOCK_ROOM, "BENCH_LOCK_ROOM is too small for " #name);        \
    static inline void bench_do_##name##_lock(void *l, void *c)                                              \
    {                                                                                                        \
        bench_##name##_lock((bench_##name *)l, (bench_##name##_ctx *)c);                                     \
    }                                                                                                        \
    static inline void bench_do_##name##_unlock(void *l, void *c)                                            \
    {                                                                                                        \
        bench_##name##_unlock((bench_##name *)l, (bench_##name##_ctx *)c);                                   \
    }                                                                                                        \
    static void bench_do_##name##_init(void *l)                                                              \
    {                                                                                                        \
        bench_##name##_init((bench_##name *)l);                                                              \
    }                                                                                                        \
    static void bench_do_##name##_destroy(void *l)                                                           \
    {                                                                                                        \
        bench_##name##_destroy((bench_##name *)l);                                                           \
    }                                                                                                        \
    BENCH_LOOP(name, work, work, false)                                                                      \
    BENCH_LOOP(name, work_timed, work, true)                                                                 \
    BENCH_LOOP(name, record, record, false)                                                                  \
    BENCH_LOOP(name, record_timed, record, true)                                                             \
    static void bench_do_##name##_attach(bench_worker *w, bench_##name##_ctx *c)                             \
    {                                                                                                        \
        for (size_t i = 0; i < BENCH_LOCKS; i++)                                                             \
            bench_##name##_attach((bench_##name *)(void *)w->shared->locks[i], &c[i]);                       \
    }                                                                                                        \
    static BENCH_FLAT void bench_do_##name##_lead(bench_worker *w)                                           \
    {                                                                                                        \
        bench_##name##_ctx c[BENCH_LOCKS];                                                                   \
        bench_do_##name##_attach(w, c);                                                                      \
        bench_lead(w, (char *)c, sizeof c[0], bench_do_##name##_lock, bench_do_##name##_unlock);             \
    }                                                                                                        \
    static BENCH_FLAT void bench_do_##name##_follow(bench_worker *w)                                         \
    {                                                                                                        \
        bench_##name##_ctx c[BENCH_LOCKS];                                                                   \
        bench_do_##name##_attach(w, c);                                                                      \
        bench_follow(w, (char *)c, sizeof c[0], bench_do_##name##_lock, bench_do_##name##_unlock);           \
    }                                                                                                        \
    static BENCH_FLAT void bench_do_##name##_pairs(void *l, uint64_t n)                                      \
    {                                                                                                        \
        bench_##name##_ctx c;                                                                                \
        bench_##name##_attach((bench_##name *)l, &c);                                                        \
        bench_pairs(l, &c, n, bench_do_##name##_lock, bench_do_##name##_unlock);                             \
    }

#define BENCH_LOCK(name, shown, peer, waiting)                                                               \
    {                                                                                                        \
        shown, sizeof(bench_##name), peer, waiting, bench_do_##name##_init, bench_do_##name##_work,          \
            bench_do_##name##_work_timed, bench_do_##name##_record, bench_do_##name##_record_timed,          \
            bench_do_##name##_lead, bench_do_##name##_follow, bench_do_##name##_pairs,                       \
            bench_do_##name##_destroy                                                                        \
    }

#define BENCH_END                                                                                            \
    {                                                                                                        \
        NULL, 0, false, BENCH_SLEEPS, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                   \
    }

/* For adapters that have nothing to do there. */
#define BENCH_NO_INIT(name)                                                                                  \
    static inline void bench_##name##_init(bench_##name *l)                                                  \
    {                                                                                                        \
        (void)l;                                                                                             \
    }
#define BENCH_NO_ATTACH(name)                                                                                \
    static inline void bench_##name##_attach(bench_##name *l, bench_##name##_ctx *c)                         \
    {                                                                                                        \
        (void)l, (void)c;                                                                                    \
    }
#define BENCH_NO_DESTROY(name)                                                                               \
    static inline void bench_##name##_destroy(bench_##name *l)                                               \
    {                                                                                                        \
        (void)l;                                                                                             \
    }

/* An adapter over an object with one call to lock and one to unlock, and nothing for the thread to remember. */
#define BENCH_PLAIN(name, type, lock_call, unlock_call)                                                      \
    typedef type bench_##name;                                                                               \
    typedef char bench_##name##_ctx;                                                                         \
    BENCH_NO_ATTACH(name)                                                                                    \
    static inline void bench_##name##_lock(bench_##name *l, bench_##name##_ctx *c)                           \
    {                                                                                                        \
        (void)c;                                                                                             \
        lock_call(l);                                                                                        \
    }                                                                                                        \
    static inline void bench_##name##_unlock(bench_##name *l, bench_##name##_ctx *c)                         \
    {                                                                                                        \
        (void)c;                                                                                             \
        unlock_call(l);                                                                                      \
    }
