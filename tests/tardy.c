/* tardy.c - a successor that is slow to see that the lock is its own
 *
 * The lock is handed to a thread that is held in its waiting loop. Meanwhile the last owner comes back, and a
 * third thread arrives. Whatever they do, only one of the three is inside at a time, also once the tardy one
 * goes on.
 */
#include "hook.h"
#include "team.h"

#include <stdlib.h>

enum { OWNER, SUCCESSOR, THIRD, THREADS };

typedef struct scene {
    const lock_info *lock;
    void *l;
    atomic_int settled[THREADS]; /* waits, is inside, or (the owner) cannot leave unlock or is back */
    atomic_int owned, resume, inside;
} scene;

static __thread scene *playing;
static __thread int part;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (playing != NULL) {
        atomic_store(&playing->settled[part], 1);
        if (part == SUCCESSOR)
            await(&playing->resume, 1);
    }
    sched_yield();
}

/* Stays inside until the tardy thread has had every chance to come in as well. */
static void stay(scene *s)
{
    CHECK(atomic_fetch_add(&s->inside, 1) == 0, "two owners");
    atomic_store(&s->settled[part], 1);
    await(&s->resume, 1);
    for (int i = 0; i < 200; i++)
        sched_yield();
    CHECK(atomic_fetch_sub(&s->inside, 1) == 1, "two owners");
}

static void play_part(int me, void *arg)
{
    scene *s = playing = arg;
    lock_ctx c;
    part = me;
    if (me == OWNER) {
        s->lock->lock(s->l, &c);
        atomic_store(&s->owned, 1);
        await(&s->settled[SUCCESSOR], 1);
        s->lock->unlock(s->l, &c);
    } else {
        await(me == SUCCESSOR ? &s->owned : &s->settled[OWNER], 1);
    }
    s->lock->lock(s->l, &c);
    stay(s);
    s->lock->unlock(s->l, &c);
}

static void nobody_enters_before_a_tardy_successor(const lock_info *lock)
{
    for (size_t rounds = scaled(20); rounds > 0; rounds--) {
        team_member team[THREADS];
        scene s = {.lock = lock, .l = calloc(1, lock->size)};
        team_start(team, THREADS, play_part, &s);
        await(&s.settled[THIRD], 1);
        atomic_store(&s.resume, 1);
        team_join(team, THREADS);
        if (lock->destroy != NULL)
            lock->destroy(s.l);
        free(s.l);
    }
}

static const promise promises[] = {
    {.name = "nobody_enters_before_a_tardy_successor",
     .check = nobody_enters_before_a_tardy_successor,
     .concerns = waits_are_seen},
};

HARNESS_MAIN(promises)
