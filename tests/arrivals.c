/* arrivals.c - two threads come to a free lock at once: one enters, at whatever instruction they meet
 *
 * The first stops before an instruction of its lock() or trylock(); the second comes, and enters or waits or
 * fails; the first goes on. Every instruction is tried.
 */
#include "hook.h"
#include "step.h"
#include "team.h"

enum { WAYS = 4 /* each of the two by lock() or by trylock() */ };

static struct {
    const lock_info *lock;
    _Alignas(PAWL_SECTOR) char l[sizeof(lock_memory)];
    int stops_at;
    bool stopped, tries[2];
    atomic_int stop, settled, go_on, inside; /* the second is settled: it has entered, waits, or failed */
} scene;

static __thread int part; /* 1, 2; 0: nobody in particular */

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (part == 1)
        atomic_store(&scene.stop, 1);
    if (part == 2)
        atomic_store(&scene.settled, 1);
    sched_yield();
}

static void come(void *unused)
{
    lock_ctx c;
    (void)unused;
    if (!scene.tries[part - 1])
        scene.lock->lock(scene.l, &c);
    else if (!scene.lock->trylock(scene.l, &c))
        return;
    CHECK(atomic_fetch_add(&scene.inside, 1) == 0, "two owners; the first stopped at instruction %d",
          scene.stops_at);
    if (part == 1)
        atomic_store(&scene.stop, 1); /* nothing left to stop at */
    else
        atomic_store(&scene.settled, 1);
    await(&scene.go_on, 1);
    for (int i = 0; i < 2; i++)
        sched_yield(); /* the other one, if it believes it may, enters now */
    CHECK(atomic_fetch_sub(&scene.inside, 1) == 1, "two owners; the first stopped at instruction %d",
          scene.stops_at);
    scene.lock->unlock(scene.l, &c);
}

static bool between(int instruction)
{
    if (instruction < scene.stops_at)
        return true;
    scene.stopped = true;
    atomic_store(&scene.stop, 1);
    await(&scene.go_on, 1);
    return false;
}

/* A thread that stops while it holds the node pool stops everybody; that is not the lock's fault. */
static void warm_up(void)
{
    pawl_node_put(pawl_node_get());
}

static void be_first(int me, void *arg)
{
    (void)me, (void)arg;
    part = 1;
    warm_up();
    step_through(come, NULL, between);
    atomic_store(&scene.stop, 1);
}

static void be_second(int me, void *arg)
{
    (void)me, (void)arg;
    part = 2;
    warm_up();
    await(&scene.stop, 1);
    come(NULL);
    atomic_store(&scene.settled, 1);
}

/* False once the first enters without having stopped. */
static bool play(int stops_at)
{
    team_member first, second;
    memset(scene.l, 0, sizeof scene.l);
    scene.stops_at = stops_at;
    scene.stopped = false;
    atomic_store(&scene.stop, 0);
    atomic_store(&scene.settled, 0);
    atomic_store(&scene.go_on, 0);
    team_start(&first, 1, be_first, NULL);
    team_start(&second, 1, be_second, NULL);
    await(&scene.settled, 1);
    atomic_store(&scene.go_on, 1);
    team_join(&first, 1);
    team_join(&second, 1);
    CHECK(atomic_load(&scene.inside) == 0, "somebody is still inside");
    return scene.stopped;
}

static void one_of_two_arrivals_enters(const lock_info *lock)
{
    if (!step_possible())
        skip("single-stepping takes x86-64 and no sanitizer; left to the model checker");
    scene.lock = lock;
    for (int way = 0; way < (lock->trylock != NULL ? WAYS : 1); way++) {
        scene.tries[0] = way & 1;
        scene.tries[1] = way & 2;
        for (int at = 0; play(at); at++)
            ;
    }
}

static const promise promises[] = {
    {.name = "one_of_two_arrivals_enters", .check = one_of_two_arrivals_enters, .concerns = waits_are_seen},
};

HARNESS_MAIN(promises)
