/* watch_mutex.h - the functions of a mutex, watched: see watch.h
 *
 * `word` is the member that is not zero while the mutex is held.
 */
#pragma once

#include "watch.h"

#define PAWL_WATCH_MUTEX(name, word)                                                                         \
    PAWL_WATCHER unsigned pawl_##name##_how(const pawl_##name *m)                                            \
    {                                                                                                        \
        PAWL_TELL(pawl_debug_quiet());                                                                       \
        bool held = atomic_load_explicit(&m->word, memory_order_relaxed) != 0;                               \
        PAWL_TELL(pawl_debug_loud());                                                                        \
        return PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (held ? PAWL_HOW_HELD : 0);                             \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER void pawl_##name##_watched_lock(pawl_##name *m)                                             \
    {                                                                                                        \
        pawl_watch_locking(m, "pawl_" #name, pawl_##name##_how(m));                                          \
        pawl_##name##_lock(m);                                                                               \
        pawl_watch_locked(m, "pawl_" #name, 0);                                                              \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER bool pawl_##name##_watched_trylock(pawl_##name *m)                                          \
    {                                                                                                        \
        pawl_watch_locking(m, "pawl_" #name, PAWL_HOW_TRY);                                                  \
        return pawl_watch_tried(m, "pawl_" #name, PAWL_HOW_TRY, pawl_##name##_trylock(m));                   \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER int pawl_##name##_watched_clocklock(pawl_##name *m, int clock,                              \
                                                     const struct timespec *deadline)                        \
    {                                                                                                        \
        pawl_watch_locking(m, "pawl_" #name, PAWL_HOW_TRY);                                                  \
        int result = pawl_##name##_clocklock(m, clock, deadline);                                            \
        pawl_watch_tried(m, "pawl_" #name, PAWL_HOW_TRY, result == 0);                                       \
        return result;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER int pawl_##name##_watched_timedlock(pawl_##name *m, const struct timespec *deadline)        \
    {                                                                                                        \
        return pawl_##name##_watched_clocklock(m, 0, deadline);                                              \
    }                                                                                                        \
                                                                                                             \
    PAWL_WATCHER void pawl_##name##_watched_unlock(pawl_##name *m)                                           \
    {                                                                                                        \
        pawl_watch_unlocking(m, "pawl_" #name, pawl_##name##_how(m));                                        \
        pawl_##name##_unlock(m);                                                                             \
        pawl_watch_unlocked(m);                                                                              \
    }
