/* capacitor.h - capacitors: a bound on overtaking around any lock (Dice & Kogan, Capacitors, listings 1 and 2)
 *
 * Admission   platoons: B threads at a time compete for the inner lock, in its order; the next B enter when
 *             all of them have left. Platoons are FIFO
 * Bypass      at most B - 1 later arrivals overtake a waiting thread; `capacitor_fractional`: unbounded
 * Space       the inner lock, and 3 words (`capacitor_multilane`: 2 words and a sector per lane)
 * Unlock      constant time if the inner lock's is; does not touch the lock after the hand-off if the inner
 *             lock does not
 * Waiting     semi-private for the platoon (`capacitor_plain` global), then as the inner lock does
 * Sharing     by threads of one process
 * Differs     departures are counted and the next platoon is admitted while the inner lock is held, so that nothing
 *             touches the capacitor after the release, and the count needs no atomic. As printed, a late departure
 *             could write to freed memory. All-zero counts as B permits given
 *
 *   ticket            arrivals so far
 *   grant + B         how many of them may compete
 *   departed          how many have left, modulo 2^16; at grant + B the platoon is complete
 *
 * PAWL_CAPACITOR(name, inner, B) makes pawl_<name>, a capacitor over the registered lock <inner>, with B from 1 to
 * 65535. PAWL_CAPACITOR_TRYLOCK(name, inner, B) adds a trylock, if the inner lock has one.
 */
#pragma once

#include "semaphore.h"

/* Default number of threads in a platoon, as in the paper. */
#ifndef PAWL_PLATOON
#define PAWL_PLATOON 10
#endif

/* Departures are counted in 16 bits. */
#ifdef PAWL_IN_LAB
#define PAWL_ASSERT_PLATOON(name, B)
#define PAWL_ASSERT_SAME_PLATOON(name, B)
#else
#define PAWL_ASSERT_PLATOON(name, B)                                                                         \
    PAWL_ASSERT((B) > 0 && (B) <= UINT16_MAX, "a platoon is of 1 to 65535 threads");                         \
    enum { pawl_##name##_platoon = (B) };
#define PAWL_ASSERT_SAME_PLATOON(name, B)                                                                    \
    PAWL_ASSERT((B) == pawl_##name##_platoon, "one platoon for lock and trylock");
#endif

#define PAWL_CAPACITOR(name, inner_lock, B)                                                                  \
    PAWL_ASSERT_PLATOON(name, B)                                                                             \
    typedef struct pawl_##name {                                                                             \
        pawl_##inner_lock inner;                                                                             \
        PAWL_HOLE(pthread_owner)                                                                             \
        uint16_t departed; /* the owner's */                                                                 \
        PAWL_HOLE(pthread_kind)                                                                              \
        PAWL_HOLE(pthread_meta)                                                                              \
        pawl_semaphore door;                                                                                 \
    } pawl_##name;                                                                                           \
                                                                                                             \
    typedef pawl_##inner_lock##_ctx pawl_##name##_ctx;                                                       \
                                                                                                             \
    static inline void pawl_##name##_acquire(pawl_##name *l, pawl_##name##_ctx *c)                           \
    {                                                                                                        \
        pawl_semaphore_acquire(&l->door, (B));                                                               \
        pawl_##inner_lock##_acquire(&l->inner, c);                                                           \
    }                                                                                                        \
                                                                                                             \
    static inline void pawl_##name##_release(pawl_##name *l, pawl_##name##_ctx *c)                           \
    {                                                                                                        \
        pawl_capacitor_depart(&l->door, &l->departed, (B));                                                  \
        pawl_##inner_lock##_release(&l->inner, c);                                                           \
    }                                                                                                        \
                                                                                                             \
    PAWL_LOCK_AND_UNLOCK(name, pawl_##inner_lock##_how)

/* Takes the inner lock first: only its owner can give a ticket back. Not for inner locks whose unlock may wait,
 * because a failed attempt unlocks the inner lock again. */
#define PAWL_CAPACITOR_TRYLOCK(name, inner_lock, B)                                                          \
    PAWL_ASSERT_SAME_PLATOON(name, B)                                                                        \
    static inline bool pawl_##name##_try_acquire(pawl_##name *l, pawl_##name##_ctx *c)                       \
    {                                                                                                        \
        if (!pawl_##inner_lock##_try_acquire(&l->inner, c))                                                  \
            return false;                                                                                    \
        if (pawl_semaphore_try_acquire(&l->door, (B)))                                                       \
            return true;                                                                                     \
        pawl_##inner_lock##_release(&l->inner, c);                                                           \
        return false;                                                                                        \
    }                                                                                                        \
                                                                                                             \
    PAWL_TRYLOCK(name)

/* Admits a whole platoon. Nobody else posts before the owner has released the inner lock. */
static inline void pawl_capacitor_admit(pawl_semaphore *door, uint32_t platoon)
{
    uint64_t grant = pawl_post_add(&door->grant, platoon); /* A */
    /* The holder of ticket `grant` watches `grant` itself; those up to grant + platoon - 1 may enter, and
     * grant + platoon becomes next in line. */
    uint32_t pokes = platoon < PAWL_SLOTS ? platoon : PAWL_SLOTS; /* more would visit slots a second time */
    for (uint32_t i = 0; i < pokes; i++)
        pawl_post_count(pawl_twa_slot_of(door, grant + platoon - i)); /* B */
}

/* Called by the owner of the inner lock: counts a departure, and after the platoon's last one admits the next. */
static inline void pawl_capacitor_depart(pawl_semaphore *door, uint16_t *departed, uint32_t platoon)
{
    uint64_t grant = atomic_load_explicit(&door->grant, memory_order_relaxed);
    if (PAWL_UNLIKELY(++*departed == (uint16_t)(grant + platoon)))
        pawl_capacitor_admit(door, platoon);
}
