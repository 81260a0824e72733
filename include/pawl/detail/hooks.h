/* hooks.h - what the functions of a lock tell: the debug mode, the thread sanitizer, Valgrind
 *
 * A lock's text (pawl_X_acquire, pawl_X_release) tells nobody. What programs call (pawl_X_lock, pawl_X_unlock) is a
 * hook, the text, and a hook. Hooks are empty unless the program is compiled with -DPAWL_DEBUG (libpawl's debug mode,
 * and through it Helgrind and DRD) or -fsanitize=thread. -DPAWL_NO_HOOKS leaves them empty even so: for libpawl
 * itself, and for tools that look into the text. Nothing else depends on the mode, and whatever calls a hook is static,
 * so files compiled in different modes make one program. docs/debugging.md is for users.
 */
#pragma once

#include "atomic.h"

#ifndef PAWL_NO_HOOKS
#if defined(PAWL_DEBUG) && PAWL_DEBUG + 0
#define PAWL_HOOKS_DEBUG 1
#endif
#ifdef PAWL_UNDER_TSAN
#define PAWL_HOOKS_TSAN 1
#endif
#endif

/* The name of the mode, if hooks are not empty. */
#if defined(PAWL_HOOKS_DEBUG) && defined(PAWL_HOOKS_TSAN)
#define PAWL_HOOKED pawl_debug_and_tsan
#elif defined(PAWL_HOOKS_DEBUG)
#define PAWL_HOOKED pawl_debug
#elif defined(PAWL_HOOKS_TSAN)
#define PAWL_HOOKED pawl_tsan
#endif

#if defined(PAWL_HOOKS_DEBUG) && defined(PAWL_FREESTANDING)
#error "PAWL_DEBUG needs libpawl, which PAWL_FREESTANDING does without"
#endif

/* How a lock is used, and what is known of it; a sum. */
enum {
    PAWL_HOW_OWNER = 0,     /* only the thread that locked may unlock,                                   */
    PAWL_HOW_TRY = 1,       /* the attempt gives up, at once or after some time: no deadlock comes of it */
    PAWL_HOW_OBLIVIOUS = 2, /* or any thread may                                                         */
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
/* What happens before `sent` is seen after `received`, for what is not a lock. */
void pawl_debug_sent(const void *object);
void pawl_debug_received(const void *object);
void pawl_debug_clean(const void *start, size_t size); /* others have written there; that is over */
/* Races in between are not reported. */
void pawl_debug_quiet(void);
void pawl_debug_loud(void);
#ifdef __cplusplus
}
#endif

#ifdef PAWL_HOOKS_TSAN
#include <sanitizer/tsan_interface.h>
/* The sanitizer ignores what comes between a `pre` and its `post`, so the library may be compiled without it. */
#define PAWL_TSAN_FLAGS(how) (__tsan_mutex_not_static | ((how)&PAWL_HOW_TRY ? __tsan_mutex_try_lock : 0))
#define PAWL_TSAN(call)      call
#else
#define PAWL_TSAN(call) ((void)0)
#endif

#ifdef PAWL_HOOKS_DEBUG
#define PAWL_TELL(call) call
#else
#define PAWL_TELL(call) ((void)0)
#endif

/* A hook, or a function that calls hooks: inlined even without optimisation, so that the first function in a reported
 * stack is the program's. */
#define PAWL_HOOK __attribute__((always_inline)) static inline

PAWL_HOOK void pawl_hook_locking(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_locking(l, kind, how));
    PAWL_TSAN(__tsan_mutex_pre_lock(l, PAWL_TSAN_FLAGS(how)));
}

PAWL_HOOK void pawl_hook_locked(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TSAN(__tsan_mutex_post_lock(l, PAWL_TSAN_FLAGS(how), 0));
    PAWL_TELL(pawl_debug_locked(l, kind, how));
}

/* An attempt is over; `locked` is what came of it. */
PAWL_HOOK void pawl_hook_tried(void *l, const char *kind, bool locked)
{
    if (locked) {
        pawl_hook_locked(l, kind, PAWL_HOW_TRY);
    } else {
        PAWL_TSAN(__tsan_mutex_post_lock(l, PAWL_TSAN_FLAGS(PAWL_HOW_TRY) | __tsan_mutex_try_lock_failed, 0));
        PAWL_TELL(pawl_debug_not_locked(l));
    }
}

PAWL_HOOK void pawl_hook_unlocking(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_unlocking(l, kind, how));
    PAWL_TSAN(__tsan_mutex_pre_unlock(l, 0));
}

PAWL_HOOK void pawl_hook_unlocked(void *l)
{
    (void)l;
    PAWL_TSAN(__tsan_mutex_post_unlock(l, 0));
    PAWL_TELL(pawl_debug_unlocked(l));
}

/* The memory of an unlocked lock will be used for something else. */
PAWL_HOOK void pawl_hook_destroyed(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_destroyed(l, kind, how));
    PAWL_TSAN(__tsan_mutex_destroy(l, __tsan_mutex_not_static));
}

/* What a thread did before it sends through a semaphore or a condition variable, the one that receives sees. */
PAWL_HOOK void pawl_hook_sending(void *object)
{
    (void)object;
    PAWL_TSAN(__tsan_release(object));
    PAWL_TELL(pawl_debug_sent(object));
}

PAWL_HOOK void pawl_hook_received(void *object)
{
    (void)object;
    PAWL_TELL(pawl_debug_received(object));
    PAWL_TSAN(__tsan_acquire(object));
}

/* Around what such an object does with its own words. */
PAWL_HOOK void pawl_hook_quiet(void)
{
    PAWL_TELL(pawl_debug_quiet());
}

PAWL_HOOK void pawl_hook_loud(void)
{
    PAWL_TELL(pawl_debug_loud());
}

/* What a mutex says of itself, given its word that is not zero while it is held. Without hooks nothing reads it. */
#ifdef PAWL_HOOKED
#define PAWL_HOW_OF(word)                                                                                    \
    (pawl_hook_quiet(), pawl_hook_how(atomic_load_explicit(&(word), memory_order_relaxed) != 0))
#else
#define PAWL_HOW_OF(word) PAWL_HOW_OWNER
#endif

PAWL_HOOK unsigned pawl_hook_how(bool held)
{
    pawl_hook_loud();
    return PAWL_HOW_OBLIVIOUS | PAWL_HOW_TELLS | (held ? PAWL_HOW_HELD : 0);
}

/* For an unlocked lock that nobody will use again and that has no destroy of its own. Debug mode reports it if it is
 * held, and forgets in which order it was taken; without it, this is nothing. */
PAWL_HOOK void pawl_destroy(void *l)
{
    pawl_hook_destroyed(l, "lock", PAWL_HOW_OWNER);
}
