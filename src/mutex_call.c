/* mutex_call.c - pawl_mutex out of line, where debug mode can be switched on at run time */
#include <pawl/mutex.h>
#include "debug.h"

static unsigned how(const pawl_mutex *m)
{
    bool held = atomic_load_explicit(&m->held, memory_order_relaxed) != 0;
    return PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (held ? PAWL_HOW_HELD : 0);
}

__attribute__((noinline, cold)) static void lock_with_hooks(pawl_mutex *m)
{
    pawl_debug_locking(m, "pawl_mutex", how(m));
    pawl_mutex_lock(m);
    pawl_debug_locked(m, "pawl_mutex", 0);
}

__attribute__((noinline, cold)) static bool trylock_with_hooks(pawl_mutex *m)
{
    pawl_debug_locking(m, "pawl_mutex", PAWL_HOW_TRY);
    bool locked = pawl_mutex_trylock(m);
    if (locked)
        pawl_debug_locked(m, "pawl_mutex", PAWL_HOW_TRY);
    else
        pawl_debug_not_locked(m);
    return locked;
}

__attribute__((noinline, cold)) static void unlock_with_hooks(pawl_mutex *m)
{
    pawl_debug_unlocking(m, "pawl_mutex", how(m));
    pawl_mutex_unlock(m);
    pawl_debug_unlocked(m);
}

__attribute__((noinline, cold)) static void unlock_fair_with_hooks(pawl_mutex *m)
{
    pawl_debug_unlocking(m, "pawl_mutex", how(m));
    pawl_mutex_unlock_fair(m);
    pawl_debug_unlocked(m);
}

void pawl_mutex_lock_call(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(pawl_debug_on))
        lock_with_hooks(m);
    else
        pawl_mutex_lock(m);
}

bool pawl_mutex_trylock_call(pawl_mutex *m)
{
    return PAWL_UNLIKELY(pawl_debug_on) ? trylock_with_hooks(m) : pawl_mutex_trylock(m);
}

void pawl_mutex_unlock_call(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(pawl_debug_on))
        unlock_with_hooks(m);
    else
        pawl_mutex_unlock(m);
}

void pawl_mutex_unlock_fair_call(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(pawl_debug_on))
        unlock_fair_with_hooks(m);
    else
        pawl_mutex_unlock_fair(m);
}
