/* capacitors.c - capacitors, wrong on purpose */
#include "mutants.h"

static void unlock_posting_twice(void *lock, lock_ctx *c)
{
    pawl_capacitor_tts *l = lock;
    if (++l->departed == atomic_load_explicit(&l->door.grant, memory_order_relaxed) + check_platoon) {
        pawl_semaphore_post_n(&l->door, check_platoon);
        pawl_semaphore_post_n(&l->door, check_platoon);
    }
    pawl_tts_release(&l->inner, &c->tts);
}

/* A semaphore instead of a capacitor: a permit back for every departure. */
static void unlock_posting_each(void *lock, lock_ctx *c)
{
    pawl_capacitor_tts *l = lock;
    pawl_semaphore_post(&l->door);
    pawl_tts_release(&l->inner, &c->tts);
}

/* Departs after the release, as printed. */
static void unlock_departing_late(void *lock, lock_ctx *c)
{
    pawl_capacitor_tts *l = lock;
    pawl_tts_release(&l->inner, &c->tts);
    uint64_t departed = __atomic_add_fetch(&l->departed, 1, __ATOMIC_SEQ_CST);
    if (departed == atomic_load_explicit(&l->door.grant, memory_order_relaxed) + check_platoon)
        pawl_semaphore_post_n(&l->door, check_platoon);
}

/* Opens one lane of four. */
static void multilane_unlock_opening_one(void *lock, lock_ctx *c)
{
    pawl_capacitor_multilane *l = lock;
    uint64_t limit = atomic_load_explicit(&l->lane[0].grant, memory_order_relaxed) + check_platoon;
    if (++l->departed == limit)
        pawl_post(&l->lane[0].grant, limit);
    pawl_tts_release(&l->inner, &c->tts);
}

/* Pokes one slot too few. */
static void unlock_forgetting_the_next_in_line(void *lock, lock_ctx *c)
{
    pawl_capacitor_tts *l = lock;
    if (++l->departed == atomic_load_explicit(&l->door.grant, memory_order_relaxed) + check_platoon) {
        uint64_t grant = atomic_fetch_add_explicit(&l->door.grant, check_platoon, memory_order_release);
        for (uint32_t i = 1; i < check_platoon; i++)
            pawl_post_count(pawl_twa_slot_of(&l->door, grant + i));
    }
    pawl_tts_release(&l->inner, &c->tts);
}

const mutant capacitor_mutants[] = {
    {"capacitor-posts-twice", "capacitor_tts", "admits two platoons for one", NULL, unlock_posting_twice,
     CAUGHT(LAB_OVERTAKEN) | CAUGHT(LAB_DEADLOCK), false, 0},
    {"capacitor-posts-each", "capacitor_tts", "is a semaphore", NULL, unlock_posting_each,
     CAUGHT(LAB_OVERTAKEN), false, 0},
    {"capacitor-departs-late", "capacitor_tts", "counts departures after the release", NULL,
     unlock_departing_late, CAUGHT(LAB_DESTROYED) | CAUGHT(LAB_DATA_RACE), false, 0},
    {"capacitor_multilane-one-lane", "capacitor_multilane", "opens one lane only", NULL,
     multilane_unlock_opening_one, CAUGHT(LAB_DEADLOCK), false, 0},
    {"capacitor-forgets-next", "capacitor_tts", "does not poke the one that becomes next in line", NULL,
     unlock_forgetting_the_next_in_line, CAUGHT(LAB_DEADLOCK), false, 0},
    {0},
};
