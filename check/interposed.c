/* interposed.c - scenarios of locks as libpawl-<lock>.so uses some of them, see preload/mutex/lock.h */
#include "visits.h"

static void lock_to_give_away(lock_ctx *c)
{
    const lock_info *l = state.with.lock;
    lab_arrive(&state.lock[0], l->size);
    (l->acquire_oblivious != NULL ? l->acquire_oblivious : l->lock)(&state.lock[0], c);
    lab_enter(&state.lock[0]);
    state.data[0]++;
}

/* The first thread locks, the second unlocks. The first then wants the lock again at once, or it ends and another
 * thread begins in its memory and wants it. */
static void give_away(int id, bool ends)
{
    begin_thread(id, !ends);
    if (id == 0) {
        lock_to_give_away(&state.handed);
        state.entered[id]++;
        lab_leave(&state.lock[0]);
        atomic_store_explicit(&state.flag, 1, memory_order_release);
        if (ends) {
            lab_thread_restart();
            begin_thread(id, false);
        }
        visit(id, 0);
    } else if (id == 1) {
        while (atomic_load_explicit(&state.flag, memory_order_acquire) == 0)
            ;
        state.with.lock->unlock(&state.lock[0], &state.handed);
    } else {
        visit(id, 0);
    }
}

void interposed_hand_off(int id)
{
    give_away(id, false);
}

/* The first thread may find the lock held, then free, and be followed before it has the lock as it wants it. */
void interposed_hand_off_between(int id)
{
    interposed_hand_off(id);
    if (id > 1)
        visit(id, 0);
}

void interposed_orphan(int id)
{
    give_away(id, true);
}

bool interposed_is_oblivious(const lock_info *lock)
{
    return lock->oblivious || lock->acquire_oblivious != NULL;
}

bool interposed_is_made_oblivious(const lock_info *lock)
{
    return lock->acquire_oblivious != NULL;
}

/* Some locks keep no node while nobody waits for them. */
void interposed_idle(int id)
{
    begin_thread(id, false);
    lock_ctx c;
    if (id == 1) {
        if (!try_visit(id, 0))
            visit(id, 0);
        return;
    }
    for (int i = 0; i < rounds(id); i++) {
        lock(0, &c);
        lab_leave(&state.lock[0]);
        state.with.lock->release_idle(&state.lock[0], &c);
        state.entered[id]++;
    }
}

bool interposed_can_be_idle(const lock_info *lock)
{
    return lock->release_idle != NULL;
}
