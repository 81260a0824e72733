/* watch_cond.h - the functions of pawl_cond, watched: see watch.h
 *
 * A wait unlocks and locks inside the library. Whoever watches is told that the mutex is released before, and
 * taken after: nothing of the program happens in between. A signal happens before the end of the wait that it
 * ends, so that a waiter may destroy the condition variable. Part of cond.h, not for use without it.
 */
#pragma once

#include "watch.h"

#ifdef PAWL_WATCHED

PAWL_WATCHER void pawl_watch_wait_begin(void *m, const char *kind, unsigned how)
{
    pawl_watch_unlocking(m, kind, how);
    pawl_watch_unlocked(m);
    pawl_watch_locking(m, kind, how & ~(unsigned)PAWL_HOW_HELD);
}

PAWL_WATCHER void pawl_watch_wait_end(void *m, const char *kind)
{
    pawl_watch_locked(m, kind, 0);
}

#define PAWL_WATCH_WAIT(name, wait, clockwait, watched_wait, watched_clockwait)                              \
    PAWL_WATCHER void watched_wait(pawl_cond *c, pawl_##name *m)                                             \
    {                                                                                                        \
        pawl_watch_wait_begin(m, "pawl_" #name, pawl_##name##_how(m));                                       \
        wait(c, m);                                                                                          \
        pawl_watch_wait_end(m, "pawl_" #name);                                                               \
        PAWL_TSAN(__tsan_acquire(c));                                                                        \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER int watched_clockwait(pawl_cond *c, pawl_##name *m, int clock,                              \
                                       const struct timespec *deadline)                                      \
    {                                                                                                        \
        pawl_watch_wait_begin(m, "pawl_" #name, pawl_##name##_how(m));                                       \
        int result = clockwait(c, m, clock, deadline);                                                       \
        pawl_watch_wait_end(m, "pawl_" #name);                                                               \
        PAWL_TSAN(__tsan_acquire(c));                                                                        \
        return result;                                                                                       \
    }

PAWL_WATCH_WAIT(mutex, pawl_cond_wait, pawl_cond_clockwait, pawl_cond_watched_wait,
                pawl_cond_watched_clockwait)
PAWL_WATCH_WAIT(fairmutex, pawl_cond_wait_fair, pawl_cond_clockwait_fair, pawl_cond_watched_wait_fair,
                pawl_cond_watched_clockwait_fair)

PAWL_WATCHER int pawl_cond_watched_timedwait(pawl_cond *c, pawl_mutex *m, const struct timespec *deadline)
{
    return pawl_cond_watched_clockwait(c, m, 0, deadline);
}

/* The parts of a wait with any other lock, which is watched itself. */
PAWL_WATCHER int pawl_cond_watched_enter(pawl_cond *c, pawl_sleeper *w, int clock,
                                         const struct timespec *deadline)
{
    PAWL_TELL(pawl_debug_quiet());
    int result = pawl_cond_enter(c, w, clock, deadline);
    PAWL_TELL(pawl_debug_loud());
    return result;
}

PAWL_WATCHER int pawl_cond_watched_sleep(pawl_cond *c, pawl_sleeper *w, int clock,
                                         const struct timespec *deadline)
{
    PAWL_TELL(pawl_debug_quiet());
    int result = pawl_cond_sleep(c, w, clock, deadline);
    pawl_watch_received(c);
    return result;
}

PAWL_WATCHER void pawl_cond_watched_leave(pawl_sleeper *w)
{
    PAWL_TELL(pawl_debug_quiet());
    pawl_cond_leave(w);
    PAWL_TELL(pawl_debug_clean(w, sizeof *w));
    PAWL_TELL(pawl_debug_loud());
}

PAWL_WATCHER int pawl_cond_watched_clockwait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock,
                                                 void *l, void *ctx, int clock,
                                                 const struct timespec *deadline)
{
    pawl_sleeper w;
    int result = pawl_cond_watched_enter(c, &w, clock, deadline);
    if (result != 0)
        return result;
    unlock(l, ctx);
    result = pawl_cond_watched_sleep(c, &w, clock, deadline);
    lock(l, ctx);
    pawl_cond_watched_leave(&w);
    return result;
}

PAWL_WATCHER void pawl_cond_watched_wait_any(pawl_cond *c, pawl_cond_call *lock, pawl_cond_call *unlock,
                                             void *l, void *ctx)
{
    pawl_cond_watched_clockwait_any(c, lock, unlock, l, ctx, 0, NULL);
}

PAWL_WATCHER void pawl_cond_watched_signal(pawl_cond *c)
{
    pawl_watch_sending(c);
    pawl_cond_signal(c);
    PAWL_TELL(pawl_debug_loud());
}

PAWL_WATCHER void pawl_cond_watched_broadcast(pawl_cond *c)
{
    pawl_watch_sending(c);
    pawl_cond_broadcast(c);
    PAWL_TELL(pawl_debug_loud());
}

#endif
