/* region_lock.c - the locks of <pawl/shared.h>: a word that excludes, and a line before it
 *
 * region_word.h has the word, region_line.c the line.
 *
 * Sleeps are limited, and who wakes up without being woken asks whether the one it waits for is dead. That mends
 * everything a death can leave behind:
 *
 *   dead with the lock                the first in line takes it, EOWNERDEAD
 *   dead, the lock reserved for it    likewise, without the error: it never entered
 *   dead in line                      the one behind goes on, and competes beside the first
 *   dead between release and wake-up  the first in line finds it free
 *   dead as `heir`                    the next that asks takes its place
 */
#include "park/futex.h"
#include "park/pause.h"
#include "region_word.h"

#include <pawl/detail/wait.h>

#include <errno.h>

#ifdef PAWL_HAS_REGIONS

/* How long a newcomer tries to barge before it queues up, in nanoseconds. */
#ifndef PAWL_SHARED_BARGE
#define PAWL_SHARED_BARGE 1000u
#endif

/* ---- both locks */

/* A lock is noted before it is taken: a handler may end the thread in between, and a seat that is left in order owns
 * none. */
static void note(pawl_region *r)
{
    ++*pawl_seat_held(r);
    atomic_signal_fence(memory_order_seq_cst);
}

/* Forgets it if it was not taken. */
static int noted(pawl_region *r, int error)
{
    if (error != 0 && error != EOWNERDEAD)
        --*pawl_seat_held(r);
    return error;
}

/* It is taken, perhaps from a dead owner. */
static int taken(pawl_robust *l)
{
    return atomic_load_explicit(&l->owner, memory_order_relaxed) & DIED ? EOWNERDEAD : 0;
}

static int lock_slowly(pawl_region *r, pawl_robust *l, uint32_t me, uint32_t barge)
{
    uint32_t owner = atomic_load_explicit(&l->owner, memory_order_relaxed);
    if (token_in(owner) == me && !(owner & RESERVED))
        return EDEADLK;
    for (uint32_t left = pawl_pauses(barge); left > 0; left--) {
        pawl_pause();
        if (atomic_load_explicit(&l->owner, memory_order_relaxed) == 0 && take(l, 0, me))
            return 0;
    }
    int error = pawl_line_lock(r, l, me);
    return error != 0 ? error : taken(l);
}

static int try_slowly(pawl_region *r, pawl_robust *l, uint32_t me)
{
    uint32_t owner = atomic_load_explicit(&l->owner, memory_order_relaxed);
    if (owner == BROKEN)
        return ENOTRECOVERABLE;
    return token_in(owner) != me && inherit(r, l, owner, me) ? taken(l) : EBUSY;
}

static int unlock(pawl_region *r, pawl_robust *l)
{
    uint32_t owner = atomic_load_explicit(&l->owner, memory_order_acquire), next,
             me = pawl_seat_token(r); /* H */
    if (me == 0 || token_in(owner) != me || (owner & RESERVED))
        return EPERM;
    PAWL_REGION_STEP("unlock: begins");
    do {
        next = owner & DIED ? BROKEN : 0;
        uint32_t heir = owner & HANDOFF ? atomic_load_explicit(&l->heir, memory_order_relaxed) : 0;
        if (next == 0 && heir != 0)
            next = heir | RESERVED;
    } while (!atomic_compare_exchange_weak_explicit(&l->owner, &owner, next, memory_order_release,
                                                    memory_order_acquire)); /* A: publishes the section; H */
    PAWL_REGION_STEP("unlock: released");
    --*pawl_seat_held(r);
    if (owner & WAITERS)
        pawl_futex_wake_shared(&l->owner); /* the lock may be gone by now; its address is all we need */
    PAWL_REGION_STEP("unlock: woke");
    return 0;
}

static int consistent(pawl_region *r, pawl_robust *l)
{
    uint32_t owner = atomic_load_explicit(&l->owner, memory_order_relaxed), me = pawl_seat_token(r);
    if (me == 0 || token_in(owner) != me || !(owner & DIED))
        return EINVAL;
    atomic_fetch_and_explicit(&l->owner, ~(uint32_t)DIED, memory_order_relaxed);
    PAWL_REGION_STEP("consistent: said");
    return 0;
}

/* ---- the mutex: whoever finds it free takes it */

int pawl_mutex_shared_trylock(pawl_region *r, pawl_mutex_shared *m)
{
    uint32_t me = pawl_seat_token(r);
    if (PAWL_UNLIKELY(me == 0))
        return ENOLCK;
    note(r);
    return PAWL_LIKELY(take(&m->robust, 0, me)) ? 0 : noted(r, try_slowly(r, &m->robust, me));
}

int pawl_mutex_shared_lock(pawl_region *r, pawl_mutex_shared *m)
{
    uint32_t me = pawl_seat_token(r);
    if (PAWL_UNLIKELY(me == 0))
        return ENOLCK;
    note(r);
    return PAWL_LIKELY(take(&m->robust, 0, me)) ? 0
                                                : noted(r, lock_slowly(r, &m->robust, me, PAWL_SHARED_BARGE));
}

int pawl_mutex_shared_unlock(pawl_region *r, pawl_mutex_shared *m)
{
    return unlock(r, &m->robust);
}

int pawl_mutex_shared_consistent(pawl_region *r, pawl_mutex_shared *m)
{
    return consistent(r, &m->robust);
}

/* ---- Hapax: only if nobody is in line */

/* F: seq_cst, so that an arrival before this look is seen. Who arrives after it came later. */
static bool take_if_no_line(pawl_robust *l, uint32_t me)
{
    return atomic_load_explicit(&l->arrive, memory_order_seq_cst) == 0 && take(l, 0, me);
}

int pawl_hapax_shared_trylock(pawl_region *r, pawl_hapax_shared *l)
{
    uint32_t me = pawl_seat_token(r);
    if (PAWL_UNLIKELY(me == 0))
        return ENOLCK;
    note(r);
    if (take_if_no_line(&l->robust, me))
        return 0;
    pawl_line_forget_dead(r, &l->robust);
    /* Needs no order: it is about the dead alone, and who lives was seen by the first look. */
    bool empty = atomic_load_explicit(&l->robust.arrive, memory_order_relaxed) == 0;
    return empty && take(&l->robust, 0, me) ? 0 : noted(r, try_slowly(r, &l->robust, me));
}

int pawl_hapax_shared_lock(pawl_region *r, pawl_hapax_shared *l)
{
    uint32_t me = pawl_seat_token(r);
    if (PAWL_UNLIKELY(me == 0))
        return ENOLCK;
    note(r);
    return PAWL_LIKELY(take_if_no_line(&l->robust, me)) ? 0 : noted(r, lock_slowly(r, &l->robust, me, 0));
}

int pawl_hapax_shared_unlock(pawl_region *r, pawl_hapax_shared *l)
{
    return unlock(r, &l->robust);
}

int pawl_hapax_shared_consistent(pawl_region *r, pawl_hapax_shared *l)
{
    return consistent(r, &l->robust);
}

#endif
