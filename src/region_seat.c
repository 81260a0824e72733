/* region_seat.c - who sits where
 *
 * A thread takes a seat with its first lock and keeps it until it ends. Whoever gets hold of a seat's life has the
 * seat to itself. If its last thread died, the seat's generation is raised, so that the tokens in locks that the
 * thread owned are known to be dead by a look at the seat; a thread that leaves in order owns none.
 */
#include "region.h"

#ifdef PAWL_HAS_REGIONS

#include "unload.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a thread begins to look for one. */
#ifndef PAWL_FIRST_SEAT
#define PAWL_FIRST_SEAT(mine) pawl_hash(pawl_address(mine) ^ (uint64_t)getpid() << 40, PAWL_SEAT_BITS)
#endif

typedef struct place {
    uint32_t serial; /* of the attachment: another one may have the same index by now */
    uint32_t token;
    uint32_t held;
} place;

static __thread place places[PAWL_REGIONS] __attribute__((tls_model("initial-exec")));

/* May be an old one, unless the seat's life is in hand. */
static uint32_t generation_of(pawl_seat *seat)
{
    return atomic_load_explicit(&seat->generation, memory_order_relaxed);
}

/* With the seat's life in hand: nobody else changes any of this. */
static void raise_generation(pawl_seat *seat)
{
    uint32_t generation = generation_of(seat);
    if (generation < PAWL_LAST_GENERATION)
        atomic_store_explicit(&seat->generation, generation + 1, memory_order_release); /* G */
}

static void bury(pawl_seat *seat)
{
    raise_generation(seat);
    PAWL_REGION_STEP("seat: dead tokens are known");
    atomic_store_explicit(&seat->queued, 0,
                          memory_order_relaxed); /* whoever waits for it will look again by itself */
    PAWL_REGION_STEP("seat: its place in line is given up");
}

/* True if the caller has the seat now. */
static bool get_hold(pawl_seat *seat)
{
    int error = pawl_life_try(&seat->life);
    PAWL_REGION_STEP("seat: tried");
    if (error == EOWNERDEAD)
        bury(seat);
    return error == 0 || error == EOWNERDEAD;
}

void pawl_seat_clear(pawl_seat *seat)
{
    if (pawl_life_goes_on(&seat->life))
        return;
    uint64_t signals = pawl_life_block_signals();
    if (get_hold(seat)) {
        pawl_life_end(&seat->life);
        PAWL_REGION_STEP("seat: cleared");
    }
    pawl_life_restore_signals(signals);
}

bool pawl_seat_is_dead(pawl_region *r, uint32_t token)
{
    pawl_seat *seat = pawl_seat_at(r, token);
    uint32_t generation = token >> PAWL_GENERATION_AT;
    if (seat == NULL)
        return false; /* nonsense in the lock */
    if (generation_of(seat) == generation)
        pawl_seat_clear(seat);
    /* G: if it is dead, the caller sees all that it wrote, whoever buried it */
    return atomic_load_explicit(&seat->generation, memory_order_acquire) != generation;
}

/* ---- this thread's */

static uint32_t find_seat(pawl_region *r)
{
    place *mine = &places[r->index];
    unsigned first = PAWL_FIRST_SEAT(mine);
    for (unsigned i = 0; i < r->seat_count; i++) {
        unsigned number = (first + i) % r->seat_count + 1;
        pawl_seat *seat = pawl_seat_at(r, number);
        if (!get_hold(seat))
            continue;
        if (generation_of(seat) == PAWL_LAST_GENERATION) {
            pawl_life_end(&seat->life);
            continue;
        }
        atomic_fetch_add_explicit(&r->seated, 1, memory_order_relaxed);
        *mine = (place){r->serial, generation_of(seat) << PAWL_GENERATION_AT | number, 0};
        return mine->token;
    }
    return 0;
}

static void expect_end(void);

static uint32_t take_seat(pawl_region *r)
{
    uint64_t signals = pawl_life_block_signals();
    expect_end(); /* first, and no handler in between: then every seat is left */
    uint32_t token = find_seat(r);
    pawl_life_restore_signals(signals);
    return token;
}

uint32_t pawl_seat_token(pawl_region *r)
{
    const place *mine = &places[r->index];
    if (PAWL_LIKELY(mine->serial == r->serial))
        return mine->token;
    return take_seat(r);
}

uint32_t *pawl_seat_held(pawl_region *r)
{
    return &places[r->index].held;
}

static void stand_up(pawl_region *r, place *mine)
{
    uint64_t signals = pawl_life_block_signals();
    pawl_seat *seat = pawl_seat_at(r, mine->token);
    if (mine->held != 0 || atomic_load_explicit(&seat->queued, memory_order_relaxed) != 0)
        bury(seat); /* in line: a handler ended the thread, which may be the heir, too */
    *mine = (place){0};
    pawl_life_end(&seat->life);
    atomic_fetch_sub_explicit(&r->seated, 1, memory_order_release); /* with pawl_region_detach(): unmaps it */
    pawl_life_restore_signals(signals);
}

bool pawl_seat_leave(pawl_region *r)
{
    place *mine = &places[r->index];
    if (mine->serial != r->serial)
        return true;
    if (mine->held != 0)
        return false;
    stand_up(r, mine);
    return true;
}

/* ---- the end of a thread, and fork */

#ifdef PAWL_IN_LAB

static void expect_end(void)
{
}

#else

static pthread_key_t key;
static bool have_key;
static __thread int rounds
    __attribute__((tls_model("initial-exec"))); /* of destructors that this thread ran */

/* Should it fail, the kernel tells of the thread's end all the same, and detach says EBUSY. */
static void expect_end(void)
{
    pthread_setspecific(key, places);
}

/* Another destructor may still unlock what the thread holds, in this round or a later one. The very last round is left
 * to ThreadSanitizer, which forgets the thread there. */
static void leave_all(void *unused)
{
    (void)unused;
    bool is_last = ++rounds >= PTHREAD_DESTRUCTOR_ITERATIONS - 1;
    for (unsigned i = 0; i < PAWL_REGIONS; i++) {
        pawl_region *r = pawl_region_numbered(i);
        if (places[i].serial == 0 || places[i].serial != r->serial)
            continue;
        if (places[i].held == 0 || is_last)
            stand_up(r, &places[i]);
        else
            expect_end();
    }
}

static void *
    *robust_list; /* of the thread that forks, which has the table; NULL: it has none, or need not be known */

static void before_fork(void)
{
    pawl_region_lock_table();
#ifndef __GLIBC__
    size_t size;
    if (syscall(SYS_get_robust_list, 0, &robust_list, &size) != 0)
        robust_list = NULL;
#endif
}

/* The seats are the parent's. glibc has forgotten their mutexes; musl would write to them. */
static void in_child(void)
{
    if (robust_list != NULL)
        *robust_list = robust_list;
    memset(places, 0, sizeof places);
    for (unsigned i = 0; i < PAWL_REGIONS; i++)
        atomic_store_explicit(&pawl_region_numbered(i)->seated, 0, memory_order_relaxed);
    pawl_region_unlock_table();
}

static int expected;

static void expect(void)
{
    have_key = pthread_key_create(&key, leave_all) == 0;
    if (!have_key || pthread_atfork(before_fork, pawl_region_unlock_table, in_child) != 0)
        expected = ENOMEM;
}

int pawl_seat_expect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, expect);
    return expected;
}

/* Threads that have a seat live on, and must not call leave_all() at their end: the kernel tells of it. */
__attribute__((destructor(101))) static void forget_threads(void)
{
    if (!have_key || !can_be_unloaded())
        return;
    pthread_key_delete(key);
}

#endif

#endif
