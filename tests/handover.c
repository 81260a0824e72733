/* handover.c - unlock, one instruction at a time, against a successor that destroys the lock
 *
 * The successor arrives before some instruction of unlock; from then on it has its way between any two of
 * them. As soon as it owns the lock, the lock's page becomes inaccessible: any later look at it is a fault.
 * A lock that declares itself unsafe must be caught this way, each time.
 */
#include "hook.h"
#include "step.h"
#include "team.h"

#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 64 * 1024 };

static struct {
    const lock_info *lock;
    char *l;
    lock_ctx owner;
    int arrives_at; /* before which instruction the successor arrives */
    atomic_int arrives, looks, owns;
    atomic_int faults;
} scene;

static __thread bool is_successor;

/* The owner may wait in unlock; its time is measured in instructions. */
void test_wait_turn(void)
{
    if (!is_successor)
        return;
    atomic_fetch_add(&scene.looks, 1);
    sched_yield();
}

static void succeed(int me, void *arg)
{
    lock_ctx c;
    (void)me, (void)arg;
    await(&scene.arrives, 1);
    is_successor = true;
    scene.lock->lock(scene.l, &c);
    mprotect(scene.l, PAGE, PROT_NONE);
    atomic_store(&scene.owns, 1);
}

/* Lets the successor look twice: once it may have begun before the last instruction. */
static void between(int instruction)
{
    if (instruction == scene.arrives_at)
        atomic_store(&scene.arrives, 1);
    if (instruction < scene.arrives_at)
        return;
    int looks = atomic_load(&scene.looks);
    while (atomic_load(&scene.owns) == 0 && atomic_load(&scene.looks) < looks + 2)
        sched_yield();
}

static void faulted(int signal)
{
    (void)signal;
    atomic_fetch_add(&scene.faults, 1);
    mprotect(scene.l, PAGE, PROT_READ | PROT_WRITE);
}

static void release(void *unused)
{
    (void)unused;
    scene.lock->unlock(scene.l, &scene.owner);
}

/* Returns how many instructions unlock had. */
static int play(int arrives_at)
{
    team_member successor;
    memset(scene.l, 0, PAGE);
    scene.arrives_at = arrives_at;
    atomic_store(&scene.arrives, 0);
    atomic_store(&scene.looks, 0);
    atomic_store(&scene.owns, 0);
    scene.lock->lock(scene.l, &scene.owner);
    team_start(&successor, 1, succeed, NULL);
    int instructions = step_through(release, NULL, between);
    atomic_store(&scene.arrives, 1);
    team_join(&successor, 1);
    mprotect(scene.l, PAGE, PROT_READ | PROT_WRITE);
    return instructions;
}

/* The number of arrivals at which unlock touched a lock that was gone. */
static int count_faults(const lock_info *lock)
{
    if (!step_possible())
        skip("single-stepping takes x86-64 and no sanitizer; left to the model checker");
    struct sigaction fault = {.sa_handler = faulted};
    scene.lock = lock;
    scene.l = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &fault, NULL);
    for (int at = 0; play(at) > at; at++) /* until unlock is over before the successor arrives */
        ;
    return atomic_load(&scene.faults);
}

static void lock_is_not_touched_after_hand_over(const lock_info *lock)
{
    int faults = count_faults(lock);
    CHECK(faults == 0, "unlock touched a destroyed lock, for %d moments of arrival", faults);
}

static void declared_hazard_is_real(const lock_info *lock)
{
    CHECK(count_faults(lock) > 0, "declared unsafe, but unlock never touched a destroyed lock");
}

static bool is_prompt(const lock_info *lock)
{
    return lock->prompt;
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
};

HARNESS_MAIN(promises)
