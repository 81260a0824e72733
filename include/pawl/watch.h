/* watch.h - what is told about a lock to those that watch: the debug mode, the thread sanitizer, Valgrind
 *
 * Nothing, unless the program is compiled with -DPAWL_DEBUG (libpawl's debug mode, and through it Helgrind
 * and DRD) or -fsanitize=thread. Then the names of the locks' functions are macros for watched versions:
 * those of the mutexes from watch_mutex.h, those of the register from watched.h. The locks themselves, and what
 * they call, stay as they are, and so does the size of everything. -DPAWL_UNWATCHED forbids it all: for
 * libpawl itself, and for those that watch the text of the locks. docs/debugging.md is for users.
 */
#pragma once

#include "detail/atomic.h"

#ifndef PAWL_UNWATCHED
#if defined(PAWL_DEBUG) && PAWL_DEBUG + 0
#define PAWL_WATCH_DEBUG 1
#endif
#ifdef PAWL_UNDER_TSAN
#define PAWL_WATCH_TSAN 1
#endif
#endif

#if defined(PAWL_WATCH_DEBUG) || defined(PAWL_WATCH_TSAN)
#define PAWL_WATCHED 1
#endif

#if defined(PAWL_WATCH_DEBUG) && defined(PAWL_FREESTANDING)
#error "PAWL_DEBUG needs libpawl, which PAWL_FREESTANDING does without"
#endif

/* How a lock is used, and what is known of it; a sum. */
enum {
    PAWL_HOW_TRY = 1,       /* the attempt gives up, at once or after some time: no deadlock comes of it */
    PAWL_HOW_OBLIVIOUS = 2, /* another thread may unlock it                                              */
    PAWL_HOW_TELLS = 4,     /* the lock itself can tell whether it is held,                              */
    PAWL_HOW_HELD = 8,      /* and says that it is                                                       */
};

/* The debug mode. `kind` is the type of the lock. The caller locks between locking and locked, or not_locked
 * if the attempt failed, and unlocks between unlocking and unlocked, which does not touch the lock. */
#ifdef __cplusplus
extern "C" {
#endif
void pawl_debug_locking(const void *l, const char *kind, unsigned how);
void pawl_debug_locked(const void *l, const char *kind, unsigned how);
void pawl_debug_not_locked(const void *l);
void pawl_debug_unlocking(const void *l, const char *kind, unsigned how);
void pawl_debug_unlocked(const void *l);
void pawl_debug_destroyed(const void *l, const char *kind, unsigned how);
/* What happens before `sent` is seen after `received`, for what is not a lock; neither is told of races in
 * between the other two. */
void pawl_debug_sent(const void *object);
void pawl_debug_received(const void *object);
void pawl_debug_clean(const void *start, size_t size); /* others have written there; that is over */
void pawl_debug_quiet(void);
void pawl_debug_loud(void);
#ifdef __cplusplus
}
#endif

#ifdef PAWL_WATCH_TSAN
#include <sanitizer/tsan_interface.h>
/* What comes between a `pre` and its `post` the sanitizer does not look at, so the library may be compiled
 * without it. */
#define PAWL_TSAN_FLAGS(how) (__tsan_mutex_not_static | ((how)&PAWL_HOW_TRY ? __tsan_mutex_try_lock : 0))
#define PAWL_TSAN(call)      call
#else
#define PAWL_TSAN(call) ((void)0)
#endif

#ifdef PAWL_WATCH_DEBUG
#define PAWL_TELL(call) call
#else
#define PAWL_TELL(call) ((void)0)
#endif

#ifdef PAWL_WATCHED

/* Inlined even without optimisation: the first function in a reported stack is the program's. */
#define PAWL_WATCHER __attribute__((always_inline, unused)) static inline

PAWL_WATCHER void pawl_watch_locking(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_locking(l, kind, how));
    PAWL_TSAN(__tsan_mutex_pre_lock(l, PAWL_TSAN_FLAGS(how)));
}

PAWL_WATCHER void pawl_watch_locked(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TSAN(__tsan_mutex_post_lock(l, PAWL_TSAN_FLAGS(how), 0));
    PAWL_TELL(pawl_debug_locked(l, kind, how));
}

PAWL_WATCHER bool pawl_watch_tried(void *l, const char *kind, unsigned how, bool locked)
{
    if (locked) {
        pawl_watch_locked(l, kind, how);
    } else {
        PAWL_TSAN(__tsan_mutex_post_lock(l, PAWL_TSAN_FLAGS(how) | __tsan_mutex_try_lock_failed, 0));
        PAWL_TELL(pawl_debug_not_locked(l));
    }
    return locked;
}

PAWL_WATCHER void pawl_watch_unlocking(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_unlocking(l, kind, how));
    PAWL_TSAN(__tsan_mutex_pre_unlock(l, 0));
}

PAWL_WATCHER void pawl_watch_unlocked(void *l)
{
    (void)l;
    PAWL_TSAN(__tsan_mutex_post_unlock(l, 0));
    PAWL_TELL(pawl_debug_unlocked(l));
}

/* Both ends of a semaphore or a condition variable. */
PAWL_WATCHER void pawl_watch_sending(void *object)
{
    (void)object;
    PAWL_TSAN(__tsan_release(object));
    PAWL_TELL(pawl_debug_sent(object));
    PAWL_TELL(pawl_debug_quiet());
}

PAWL_WATCHER void pawl_watch_received(void *object)
{
    (void)object;
    PAWL_TELL(pawl_debug_loud());
    PAWL_TELL(pawl_debug_received(object));
    PAWL_TSAN(__tsan_acquire(object));
}

#endif

/* The memory of an unlocked lock will be used for something else. Debug mode reports a lock that is held, and
 * forgets what it knew about the order in which it is taken; without it, this is nothing. */
static inline void pawl_watch_destroyed(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_destroyed(l, kind, how));
    PAWL_TSAN(__tsan_mutex_destroy(l, __tsan_mutex_not_static));
}

/* The same for any lock that has no destroy of its own. */
static inline void pawl_destroy(void *l)
{
    pawl_watch_destroyed(l, "lock", 0);
}
