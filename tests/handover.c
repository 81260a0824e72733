/* handover.c - how one lock() and one unlock() can meet, instruction by instruction
 *
 * The successor stops before an instruction of its lock(), and the owner runs up to some instruction of its
 * unlock(). Then the successor goes on, and may run between any two further instructions of the owner.
 * As soon as it owns the lock, the lock's page becomes inaccessible: any later access is a fault. A lock
 * that does not promise prompt destruction must be caught like this.
 */
#include "hook.h"
#include "step.h"
#include "team.h"

#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 64 * 1024, STEPS_MOST = 5000, NEVER = STEPS_MOST, MEETINGS = 120 };

static struct {
    const lock_info *lock;
    char *l, *other; /* a second lock that the owner holds */
    lock_ctx owner;
    int stops_at, goes_on_at;                /* instructions of the successor, of the owner                */
    int instructions_to_wait;                /* of the successor                                           */
    atomic_int stop, go_on;                  /* the successor stands still, or nearly; it may go on        */
    atomic_int looks, owns, bystander_looks; /* how often somebody looked whether its wait was over        */
    atomic_int faults;
} scene;

static __thread atomic_int *my_looks;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (my_looks == NULL) {   /* the owner, in unlock: its time is measured in instructions */
        scene.goes_on_at = 0; /* unlock cannot end before the successor goes on */
        return;
    }
    atomic_fetch_add(my_looks, 1);
    if (my_looks == &scene.looks)
        atomic_store(&scene.stop, 1);
    sched_yield();
}

static void acquire(void *c)
{
    scene.lock->lock(scene.l, c);
}

static void release(void *c)
{
    scene.lock->unlock(scene.l, c);
}

static bool between_of_successor(int instruction)
{
    if (instruction < scene.stops_at)
        return atomic_load(&scene.looks) == 0;
    atomic_store(&scene.stop, 1);
    await(&scene.go_on, 1);
    return false;
}

static void succeed(int me, void *arg)
{
    lock_ctx c;
    (void)me, (void)arg;
    my_looks = &scene.looks;
    scene.instructions_to_wait = step_through(acquire, &c, between_of_successor);
    mprotect(scene.l, PAGE, PROT_NONE);
    atomic_store(&scene.owns, 1);
}

/* Lets the successor look twice: the first look may have begun before our last instruction. */
static bool between_of_owner(int instruction)
{
    if (instruction > STEPS_MOST)
        fail("unlock does not end");
    if (instruction < scene.goes_on_at)
        return true;
    atomic_store(&scene.go_on, 1);
    int looks = atomic_load(&scene.looks);
    while (atomic_load(&scene.owns) == 0 && atomic_load(&scene.looks) < looks + 2)
        sched_yield();
    return true;
}

static void faulted(int signal)
{
    (void)signal;
    atomic_fetch_add(&scene.faults, 1);
    mprotect(scene.l, PAGE, PROT_READ | PROT_WRITE);
}

/* Waits for the owner's other lock all the time. */
static void stand_by(int me, void *arg)
{
    lock_ctx c;
    (void)me, (void)arg;
    my_looks = &scene.bystander_looks;
    scene.lock->lock(scene.other, &c);
    scene.lock->unlock(scene.other, &c);
}

/* Returns how many instructions unlock had. */
static int play(int stops_at, int goes_on_at)
{
    team_member successor;
    memset(scene.l, 0, PAGE);
    scene.stops_at = stops_at;
    scene.goes_on_at = goes_on_at;
    atomic_store(&scene.stop, 0);
    atomic_store(&scene.go_on, 0);
    atomic_store(&scene.looks, 0);
    atomic_store(&scene.owns, 0);
    acquire(&scene.owner);
    team_start(&successor, 1, succeed, NULL);
    await(&scene.stop, 1);
    int instructions = step_through(release, &scene.owner, between_of_owner);
    atomic_store(&scene.go_on, 1);
    team_join(&successor, 1);
    mprotect(scene.l, PAGE, PROT_READ | PROT_WRITE);
    return instructions;
}

/* In how many meetings unlock touched a lock that was gone. */
static int count_faults(const lock_info *lock, bool bystander)
{
    if (!step_possible())
        skip("single-stepping takes x86-64 and no sanitizer; left to the model checker");
    uint64_t random = 0x9E3779B97F4A7C15u;
    team_member by;
    lock_ctx c;
    struct sigaction fault = {.sa_handler = faulted};
    sigaction(SIGSEGV, &fault, NULL);
    scene.lock = lock;
    scene.l = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    scene.other = scene.l + PAGE;
    if (bystander) {
        lock->lock(scene.other, &c);
        team_start(&by, 1, stand_by, NULL);
        await(&scene.bystander_looks, 1);
    }
    pawl_thread_enter();            /* once per thread, and hundreds of instructions */
    int in_unlock = play(NEVER, 0); /* the successor waits before unlock begins      */
    int in_lock = scene.instructions_to_wait;
    for (int at = 0; play(0, at) > at; at++) /* it arrives while unlock is under way          */
        ;
    for (size_t n = scaled(MEETINGS); n > 0; n--) /* or it is halfway then */
        play((int)draw_below(&random, (size_t)in_lock), (int)draw_below(&random, (size_t)in_unlock));
    if (bystander) {
        lock->unlock(scene.other, &c);
        team_join(&by, 1);
    }
    return atomic_load(&scene.faults);
}

static void lock_is_not_touched_after_hand_over(const lock_info *lock)
{
    int faults = count_faults(lock, false);
    CHECK(faults == 0, "unlock touched a destroyed lock in %d meetings", faults);
}

static void declared_hazard_is_real(const lock_info *lock)
{
    CHECK(count_faults(lock, false) > 0, "declared unsafe, but unlock never touched a destroyed lock");
}

static void successor_is_found_whoever_else_waits(const lock_info *lock)
{
    count_faults(lock, true); /* a successor that is not found never ends */
}

static bool is_prompt(const lock_info *lock)
{
    return lock->prompt && waits_are_seen(lock);
}

static bool is_hazardous(const lock_info *lock)
{
    return !lock->prompt;
}

static const promise promises[] = {
    {.name = "lock_is_not_touched_after_hand_over",
     .check = lock_is_not_touched_after_hand_over,
     .concerns = is_prompt},
    {.name = "declared_hazard_is_real", .check = declared_hazard_is_real, .concerns = is_hazardous},
    {.name = "successor_is_found_whoever_else_waits",
     .check = successor_is_found_whoever_else_waits,
     .concerns = waits_are_seen},
};

HARNESS_MAIN(promises)
