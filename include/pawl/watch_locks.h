/* watch_locks.h - the functions of the registered locks and of the semaphore, watched: see watch.h
 *
 * Part of locks.h, not for use without it.
 */
#pragma once

#include "watch.h"

#ifdef PAWL_WATCHED

#include "semaphore.h"

#define PAWL_WATCH_HOW(oblivious) PAWL_IF(oblivious, PAWL_HOW_OBLIVIOUS, 0)

#define PAWL_LOCK(name, title, source, order, each, total, constant, try_, destroy_, prompt, oblivious, ...) \
    PAWL_WATCHER void pawl_##name##_watched_lock(pawl_##name *l, pawl_##name##_ctx *c)                       \
    {                                                                                                        \
        pawl_watch_locking(l, "pawl_" #name, PAWL_WATCH_HOW(oblivious));                                     \
        pawl_##name##_lock(l, c);                                                                            \
        pawl_watch_locked(l, "pawl_" #name, PAWL_WATCH_HOW(oblivious));                                      \
    }                                                                                                        \
    PAWL_IF(                                                                                                 \
        try_, PAWL_WATCHER bool pawl_##name##_watched_trylock(pawl_##name *l, pawl_##name##_ctx *c) {        \
            pawl_watch_locking(l, "pawl_" #name, PAWL_HOW_TRY);                                              \
            return pawl_watch_tried(l, "pawl_" #name, PAWL_HOW_TRY, pawl_##name##_trylock(l, c));            \
        }, )                                                                                                 \
    PAWL_WATCHER void pawl_##name##_watched_unlock(pawl_##name *l, pawl_##name##_ctx *c)                     \
    {                                                                                                        \
        pawl_watch_unlocking(l, "pawl_" #name, PAWL_WATCH_HOW(oblivious));                                   \
        pawl_##name##_unlock(l, c);                                                                          \
        pawl_watch_unlocked(l);                                                                              \
    }                                                                                                        \
    PAWL_IF(                                                                                                 \
        destroy_, PAWL_WATCHER void pawl_##name##_watched_destroy(pawl_##name *l) {                          \
            pawl_watch_destroyed(l, "pawl_" #name, PAWL_WATCH_HOW(oblivious));                               \
            pawl_##name##_destroy(l);                                                                        \
        }, )
#include "locks.def"
#undef PAWL_LOCK

PAWL_WATCHER void pawl_semaphore_watched_take_plus(pawl_semaphore *s, uint64_t more)
{
    PAWL_TELL(pawl_debug_quiet());
    pawl_semaphore_take_plus(s, more);
    pawl_watch_received(s);
}

PAWL_WATCHER bool pawl_semaphore_watched_trytake_plus(pawl_semaphore *s, uint64_t more)
{
    PAWL_TELL(pawl_debug_quiet());
    bool taken = pawl_semaphore_trytake_plus(s, more);
    pawl_watch_received(s);
    return taken;
}

PAWL_WATCHER void pawl_semaphore_watched_take(pawl_semaphore *s)
{
    pawl_semaphore_watched_take_plus(s, 0);
}

PAWL_WATCHER bool pawl_semaphore_watched_trytake(pawl_semaphore *s)
{
    return pawl_semaphore_watched_trytake_plus(s, 0);
}

PAWL_WATCHER void pawl_semaphore_watched_post_n(pawl_semaphore *s, uint32_t n)
{
    pawl_watch_sending(s);
    pawl_semaphore_post_n(s, n);
    PAWL_TELL(pawl_debug_loud());
}

PAWL_WATCHER void pawl_semaphore_watched_post(pawl_semaphore *s)
{
    pawl_semaphore_watched_post_n(s, 1);
}

#include "watched.h"

#endif
