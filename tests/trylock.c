/* trylock.c - trylock fails on a held lock, succeeds on a free one, and never waits */
#include "hook.h"
#include "team.h"

#include <stdlib.h>

static __thread bool must_not_wait;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    CHECK(!must_not_wait, "trylock waits");
    sched_yield();
}

static bool try_lock(const lock_info *lock, void *l, lock_ctx *c)
{
    must_not_wait = true;
    bool taken = lock->trylock(l, c);
    must_not_wait = false;
    return taken;
}

typedef struct scene {
    const lock_info *lock;
    void *l;
    size_t tries;
    atomic_int queued; /* waiters that have called lock() */
} scene;

static void try_in_vain(int me, void *arg)
{
    scene *s = arg;
    lock_ctx c;
    (void)me;
    for (size_t i = 0; i < s->tries; i++)
        CHECK(!try_lock(s->lock, s->l, &c), "trylock took a lock that another thread holds");
}

static void wait_in_line(int me, void *arg)
{
    scene *s = arg;
    lock_ctx c;
    (void)me;
    atomic_fetch_add(&s->queued, 1);
    s->lock->lock(s->l, &c);
    s->lock->unlock(s->l, &c);
}

static scene scene_open(const lock_info *lock)
{
    return (scene){.lock = lock, .l = calloc(1, lock->size), .tries = scaled(2000)};
}

static void scene_close(scene *s)
{
    lock_ctx c;
    CHECK(try_lock(s->lock, s->l, &c), "trylock failed on a lock that all have left");
    s->lock->unlock(s->l, &c);
    free(s->l);
}

/* Held by lock() the first time, by trylock() the second; alone, and with a queue behind the holder. */
static void fails_on_held(const lock_info *lock)
{
    scene s = scene_open(lock);
    for (int way = 0; way < 4; way++) {
        lock_ctx c, again;
        team_member line[2];
        int waiters = way & 2;
        if (way & 1)
            CHECK(try_lock(lock, s.l, &c), "trylock failed on a free lock");
        else
            lock->lock(s.l, &c);
        atomic_store(&s.queued, 0);
        team_start(line, waiters, wait_in_line, &s);
        await(&s.queued, waiters);
        CHECK(!try_lock(lock, s.l, &again), "trylock took a lock that its own thread holds");
        team_run(2, try_in_vain, &s);
        lock->unlock(s.l, &c);
        team_join(line, waiters);
    }
    scene_close(&s);
}

/* More often than any count in a lock (a platoon, a countdown) goes round. */
static void succeeds_on_free(const lock_info *lock)
{
    scene s = scene_open(lock);
    for (size_t i = 0; i < s.tries; i++) {
        lock_ctx c;
        CHECK(try_lock(lock, s.l, &c), "trylock failed on a free lock, round %zu", i);
        lock->unlock(s.l, &c);
        if (i % 3 == 0) {
            lock->lock(s.l, &c);
            lock->unlock(s.l, &c);
        }
    }
    scene_close(&s);
}

/* A failure leaves nothing behind: neither a node, nor a ticket, nor a changed lock. */
static void failure_leaves_no_trace(const lock_info *lock)
{
    scene s = scene_open(lock);
    lock_ctx c, again;
    void *before = malloc(lock->size);
    lock->lock(s.l, &c);
    pawl_nodes_trim(0);
    size_t nodes = pawl_nodes_out();
    memcpy(before, s.l, lock->size);
    for (size_t i = 0; i < s.tries; i++)
        CHECK(!try_lock(lock, s.l, &again), "trylock took a lock that is held");
    pawl_nodes_trim(0);
    CHECK(pawl_nodes_out() == nodes, "%zu nodes before, %zu after", nodes, pawl_nodes_out());
    CHECK(memcmp(before, s.l, lock->size) == 0, "the lock has changed");
    lock->unlock(s.l, &c);
    free(before);
    scene_close(&s);
}

static bool has_trylock(const lock_info *lock)
{
    return lock->trylock != NULL;
}

static const promise promises[] = {
    {.name = "fails_on_held", .check = fails_on_held, .concerns = has_trylock},
    {.name = "succeeds_on_free", .check = succeeds_on_free, .concerns = has_trylock},
    {.name = "failure_leaves_no_trace", .check = failure_leaves_no_trace, .concerns = has_trylock},
};

HARNESS_MAIN(promises)
