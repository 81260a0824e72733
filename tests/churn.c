/* churn.c - threads and locks that come and go leave nothing behind */
#include "generator.h"
#include "sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 4, THREADS = 20000, LOCKS = 100000, BATCH = 50 };

static size_t nodes_out(void)
{
    pawl_nodes_trim(0); /* this thread's own cache */
    return pawl_nodes_out();
}

/* Of this process, in bytes; 0 where a sanitizer or an emulator has memory of its own for each thread. */
static size_t resident(void)
{
#if defined(SANITIZED) || defined(PAWL_TEST_EMULATED)
    return 0;
#else
    size_t total, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%zu %zu", &total, &pages) != 2)
        skip("no /proc/self/statm");
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

typedef struct crowd {
    const lock_info *lock;
    char *l;
    size_t locks;
    generator shared;
} crowd;

static void pass_through(int me, void *arg)
{
    crowd *w = arg;
    (void)me;
    for (int i = 0; i < 3; i++) {
        lock_ctx c;
        w->lock->lock(w->l, &c);
        w->shared = generator_next(w->shared);
        w->lock->unlock(w->l, &c);
    }
}

static void send_threads(crowd *w, size_t n)
{
    for (size_t i = 0; i < n; i += AT_ONCE)
        team_run(AT_ONCE, pass_through, w);
}

static void short_lived_threads_leave_nothing(const lock_info *lock)
{
    size_t threads = scaled(THREADS);
    crowd w = {.lock = lock, .l = calloc(1, lock->size), .shared = GENERATOR_START};
    send_threads(&w, threads / 10); /* what is kept for reuse is there from now on */
    size_t nodes = nodes_out(), bytes = resident();
    send_threads(&w, threads);
    size_t grown = resident() - bytes;
    generator_check(&w.shared, w.shared.steps, "short-lived threads");
    CHECK(w.shared.steps >= 3 * threads, "%zu critical sections", w.shared.steps);
    CHECK(nodes_out() == nodes, "%zu nodes out, %zu before", nodes_out(), nodes);
    CHECK(grown < 1024 * 1024 || grown > SIZE_MAX / 2, "%zu bytes more after %zu threads", grown, threads);
    if (lock->destroy != NULL)
        lock->destroy(w.l);
    CHECK(nodes_out() == 0, "%zu nodes still out", nodes_out());
    free(w.l);
}

static void use_all(int me, void *arg)
{
    crowd *w = arg;
    (void)me;
    for (size_t i = 0; i < w->locks; i++) {
        lock_ctx c;
        w->lock->lock(w->l + i * w->lock->size, &c);
        w->lock->unlock(w->l + i * w->lock->size, &c);
    }
}

/* Used by one thread, then by two at a time, then dropped. Only what the register says stays behind. */
static void abandoned_locks_leave_what_is_declared(const lock_info *lock)
{
    size_t nodes = nodes_out();
    crowd w = {.lock = lock, .locks = scaled(LOCKS)};
    w.l = calloc(w.locks, lock->size);
    use_all(0, &w);
    team_run(2, use_all, &w);
    size_t declared = nodes + (lock->idle_bytes != 0 ? w.locks : 0);
    CHECK(nodes_out() == declared, "%zu nodes out, %zu declared", nodes_out(), declared);
    for (size_t i = 0; lock->destroy != NULL && i < w.locks; i++)
        lock->destroy(w.l + i * lock->size);
    CHECK(lock->destroy == NULL || nodes_out() == nodes, "%zu nodes out after destroy", nodes_out() - nodes);
    free(w.l);
}

/* One thread takes all nodes, the other puts them all back. */
typedef struct one_way {
    const lock_info *lock;
    char *l;
    size_t rounds, most;
    lock_ctx given[BATCH];
    atomic_int sent, done;
} one_way;

static void lock_or_unlock(int me, void *arg)
{
    one_way *w = arg;
    for (size_t round = 0; round < w->rounds; round++) {
        if (me == 0)
            await(&w->done, (int)round);
        else
            await(&w->sent, (int)round + 1);
        for (int i = 0; i < BATCH; i++)
            (me == 0 ? w->lock->lock : w->lock->unlock)(w->l + (size_t)i * w->lock->size, &w->given[i]);
        size_t out = me == 0 ? 0 : pawl_nodes_out();
        w->most = out > w->most ? out : w->most;
        atomic_fetch_add_explicit(me == 0 ? &w->sent : &w->done, 1, memory_order_release);
    }
}

static void unlocking_for_others_does_not_hoard_nodes(const lock_info *lock)
{
    one_way w = {.lock = lock, .l = calloc(BATCH, lock->size), .rounds = scaled(LOCKS) / BATCH + 1};
    enum { ALLOWED = 2 * BATCH + 2 * INT8_MAX + PAWL_NODES_KEPT }; /* the cache is trimmed now and then */
    team_run(2, lock_or_unlock, &w);
    CHECK(w.most <= ALLOWED, "%zu nodes out at one time", w.most);
    for (int i = 0; lock->destroy != NULL && i < BATCH; i++)
        lock->destroy(w.l + (size_t)i * lock->size);
    CHECK(nodes_out() == 0, "%zu nodes still out", nodes_out());
    free(w.l);
}

static bool is_oblivious(const lock_info *lock)
{
    return lock->oblivious;
}

static const promise promises[] = {
    {.name = "short_lived_threads_leave_nothing", .check = short_lived_threads_leave_nothing},
    {.name = "abandoned_locks_leave_what_is_declared", .check = abandoned_locks_leave_what_is_declared},
    {.name = "unlocking_for_others_does_not_hoard_nodes",
     .check = unlocking_for_others_does_not_hoard_nodes,
     .concerns = is_oblivious},
};

HARNESS_MAIN(promises)
