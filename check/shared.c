/* shared.c - scenarios of the locks that processes share: simulated threads stand for the processes
 *
 * In some, one thread dies at a step of the lock's code (PAWL_REGION_STEP): it leaves everything as it is and never
 * comes back.
 */
#include "shared.h"
#include "state.h"

#include <errno.h>
#include <string.h>

enum { SEATS = 8, VICTIM = 0, MOST_STEPS = 18 };
enum { LOCK_IS_HELD = 1, HEIR_IS_DEAD }; /* scenes */

static struct {
    _Alignas(256) pawl_robust lock;
    _Alignas(128) pawl_seat seats[SEATS];
    pawl_region region;
    _Alignas(128) int data, entered[LAB_MAX_THREADS];
    int references, promised_by;
    unsigned steps;       /* that the victim may still do; 0: any number */
    uint32_t victim_sits; /* its token */
    bool dies_as_heir;    /* when it has asked for the lock */
    _Atomic(int) scene;
} it;

static void *grave[5]; /* for __builtin_setjmp() */
long check_patience;
uint64_t check_share;

static bool is_heir(const char *step)
{
    return it.dies_as_heir && strcmp(step, "head: has announced itself") == 0 &&
           atomic_load_explicit(&it.lock.heir, memory_order_relaxed) == it.victim_sits;
}

void check_step(const char *name)
{
    if (lab_self() != VICTIM || !(is_heir(name) || (it.steps > 0 && --it.steps == 0)))
        return;
    check_life_dies(&pawl_seat_at(&it.region, it.victim_sits)->life);
    atomic_store_explicit(&it.scene, HEIR_IS_DEAD, memory_order_relaxed);
    __builtin_longjmp(grave, 1);
}

unsigned check_first_seat(void)
{
    return (unsigned)lab_self();
}

/* ---- what scenarios are made of */

static bool is_hapax(const lock_info *lock)
{
    return lock == &check_shared_locks[1];
}

static bool is_mutex(const lock_info *lock)
{
    return lock == &check_shared_locks[0];
}

#define CALL(verb)                                                                                           \
    (is_hapax(state.with.lock) ? pawl_hapax_shared_##verb(&it.region, (pawl_hapax_shared *)&it.lock)         \
                               : pawl_mutex_shared_##verb(&it.region, (pawl_mutex_shared *)&it.lock))

static void got(int error)
{
    lab_assert(error == 0 || error == EOWNERDEAD, "lock has the lock");
    if (error == EOWNERDEAD)
        lab_assert(CALL(consistent) == 0, "it can be made consistent");
}

static void lock(void)
{
    lab_arrive(&it.lock, sizeof it.lock);
    got(CALL(lock));
}

static void unlock(void)
{
    lab_leave(&it.lock);
    lab_assert(CALL(unlock) == 0, "the owner may unlock");
}

static void enter(int id)
{
    lab_enter(&it.lock);
    it.data++;
    it.entered[id]++;
}

static void contend(int id)
{
    int rounds = id == 0 || state.everyone ? state.iterations : 1;
    for (int i = 0; i < rounds; i++) {
        lock();
        enter(id);
        unlock();
    }
}

static void try_too(int id)
{
    if (id == 0) {
        lock();
    } else {
        lab_try(&it.lock);
        int error = CALL(trylock);
        if (error == EBUSY)
            return;
        got(error);
    }
    enter(id);
    unlock();
}

static void try_first(int id)
{
    if (id > 1) {
        lab_try(&it.lock);
        int error = CALL(trylock);
        if (error != EBUSY) {
            got(error);
            enter(id);
            unlock();
            return;
        }
    }
    contend(id);
}

/* If the first in line asked to be next in this section, this thread does not get the next one. */
static void hand_off(int id)
{
    for (int i = 0; i < state.iterations; i++) {
        lock();
        enter(id);
        lab_assert(it.promised_by != id + 1, "the next section is for the one that has asked for it");
        it.promised_by =
            atomic_load_explicit(&it.lock.owner, memory_order_relaxed) & (2u << PAWL_SEAT_BITS) ? id + 1 : 0;
        unlock();
    }
}

static void destroy(int id)
{
    lock();
    enter(id);
    bool last = --it.references == 0;
    unlock();
    if (last)
        lab_destroy(&it.lock, sizeof it.lock);
}

static void is_free(void)
{
    int entered = 0;
    for (int i = 0; i < LAB_MAX_THREADS; i++)
        entered += it.entered[i];
    lab_assert(it.data == entered, "every visit to the critical section left its mark");
    got(CALL(trylock));
    lab_assert(CALL(unlock) == 0 && CALL(trylock) == 0, "it is free in the end");
}

static void nothing(void)
{
}

/* Leaves everything as it is after that many steps, or as the heir. */
static void go_and_die(int id, unsigned steps, bool as_heir)
{
    it.victim_sits = pawl_seat_token(&it.region);
    if (__builtin_setjmp(grave) != 0)
        return;
    it.steps = steps;
    it.dies_as_heir = as_heir;
    lock();
    enter(id);
    unlock();
    it.steps = 0;
}

/* One of them dies; the others go on. */
static void die(int id)
{
    if (id == VICTIM)
        go_and_die(id, state.with.coin, false);
    else
        contend(id);
}

/* Who finds out about the death need not be the one that gets the lock. */
static void die_as_owner(int id)
{
    if (id != VICTIM) {
        try_first(id);
        return;
    }
    uint32_t sits = pawl_seat_token(&it.region);
    lock();
    enter(id);
    lab_leave(&it.lock);
    check_life_dies(&pawl_seat_at(&it.region, sits)->life);
}

/* Orders nothing: that is the lock's part. */
static void await(int scene)
{
    while (atomic_load_explicit(&it.scene, memory_order_relaxed) != scene)
        ;
}

/* The lock is reserved for a dead thread. Whoever takes it follows the last owner. */
static void die_as_heir(int id)
{
    if (id == VICTIM) {
        await(LOCK_IS_HELD);
        go_and_die(id, 0, true);
    } else if (id == 1) {
        lock();
        enter(id);
        atomic_store_explicit(&it.scene, LOCK_IS_HELD, memory_order_relaxed);
        await(HEIR_IS_DEAD);
        unlock();
    } else {
        await(HEIR_IS_DEAD);
        try_first(id);
    }
}

/* clang-format off */
const scenario check_shared_scenarios[] = {
    {.name = "contend", .what = "everyone wants one lock",
     .threads = 3, .iterations = 2, .thread = contend, .finish = is_free},
    {.name = "trylock", .what = "lock and trylock, mixed",
     .threads = 3, .iterations = 1, .thread = try_too, .finish = is_free},
    {.name = "hand-off", .what = "who asked to be next is next",
     .threads = 2, .iterations = 3, .thread = hand_off, .finish = is_free, .applies = is_mutex},
    {.name = "barge", .what = "nobody passes the first in line, though it does not ask",
     .threads = 3, .iterations = 1, .thread = try_first, .finish = is_free, .applies = is_hapax},
    {.name = "destroy", .what = "the last owner destroys the lock",
     .threads = 3, .iterations = 1, .thread = destroy, .finish = nothing},
    {.name = "death", .what = "a thread dies at a step of lock or unlock",
     .threads = 2, .iterations = 1, .thread = die, .finish = is_free},
    {.name = "dead-owner", .what = "the owner dies, two go on",
     .threads = 3, .iterations = 1, .thread = die_as_owner, .finish = is_free},
    {.name = "dead-heir", .what = "the lock is reserved for a dead thread",
     .threads = 3, .iterations = 1, .thread = die_as_heir, .finish = is_free},
};
/* clang-format on */
const int check_shared_scenario_count = sizeof check_shared_scenarios / sizeof check_shared_scenarios[0];

uint32_t check_deaths(const scenario *s)
{
    return s->thread == die ? MOST_STEPS : s->thread == die_as_owner || s->thread == die_as_heir;
}

const lock_info check_shared_locks[CHECK_SHARED_COUNT] = {
    {.name = "mutex_shared",
     .order = PAWL_NONE,
     .each = PAWL_UNBOUNDED,
     .total = PAWL_UNBOUNDED,
     .own_waiting = true},
    {.name = "hapax_shared", .order = PAWL_FIFO, .own_waiting = true},
};

bool check_is_shared(const lock_info *lock)
{
    return is_mutex(lock) || is_hapax(lock);
}

void check_shared_prepare(void)
{
    memset(&it, 0, sizeof it);
    it.references = state.threads;
    check_patience = check_deaths(state.scenario) > 0; /* without deaths, timers would hide a lost wake-up */
    check_share = state.scenario->thread == try_first ? UINT64_C(1000000000) : 1;
    it.region.seats = it.seats;
    it.region.seat_count = SEATS;
    it.region.serial = 1;
}

void check_shared_name(void)
{
    lab_name(&it.lock, sizeof it.lock, "lock");
    lab_name(it.seats, sizeof it.seats, "seats");
    lab_name(&it.data, sizeof it.data, "data");
}
