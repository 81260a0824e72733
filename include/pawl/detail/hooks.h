/* hooks.h - how a lock's functions tell debug mode, ThreadSanitizer and Valgrind what they do
 *
 * A lock's text (pawl_X_acquire, pawl_X_release) has no hooks. What programs call (pawl_X_lock, pawl_X_unlock) is the
 * text between two hooks. Hooks are empty unless the program is compiled with -DPAWL_DEBUG (libpawl's debug mode, and
 * through it Helgrind and DRD) or -fsanitize=thread. -DPAWL_NO_HOOKS keeps them empty even then: for libpawl itself,
 * and for tools that look into the text. Nothing else depends on the mode, and every function that calls a hook is
 * static, so files compiled in different modes link into one program. docs/debugging.md is for users.
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

/* How a lock is used, and what it knows of itself; a sum. */
enum {
    PAWL_HOW_OWNER = 0,     /* only the thread that locked may unlock                               */
    PAWL_HOW_TRY = 1,       /* the attempt gives up, at once or after some time: it cannot deadlock */
    PAWL_HOW_OBLIVIOUS = 2, /* any thread may unlock                                                */
    PAWL_HOW_TELLS = 4,     /* the lock itself can tell whether it is held                          */
    PAWL_HOW_HELD = 8,      /* and says that it is                                                  */
};

/* Debug mode. `kind` is the lock's type. Lock between locking and locked, or not_locked if the attempt failed; unlock
 * between unlocking and unlocked, which does not touch the lock. */
#ifdef __cplusplus
extern "C" {
#endif
void pawl_debug_locking(const void *l, const char *kind, unsigned how);
void pawl_debug_locked(const void *l, const char *kind, unsigned how);
void pawl_debug_not_locked(const void *l);
void pawl_debug_unlocking(const void *l, const char *kind, unsigned how);
void pawl_debug_unlocked(const void *l);
void pawl_debug_destroyed(const void *l, const char *kind, unsigned how);
/* For synchronisation other than locks: what happens before `sent` is visible after `received`. */
void pawl_debug_sent(const void *object);
void pawl_debug_received(const void *object);
void pawl_debug_clean(const void *start, size_t size); /* other threads wrote there, and are done */
/* No race is reported between these two. */
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

/* A hook, or a function that calls hooks. Inlined even without optimisation, so that a reported stack begins with the
 * program's own function. */
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

/* Ends an attempt; `locked` is its result. */
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

/* The memory of an unlocked lock is about to be reused. */
PAWL_HOOK void pawl_hook_destroyed(void *l, const char *kind, unsigned how)
{
    (void)l, (void)kind, (void)how;
    PAWL_TELL(pawl_debug_destroyed(l, kind, how));
    PAWL_TSAN(__tsan_mutex_destroy(l, __tsan_mutex_not_static));
}

/* For semaphores and condition variables: what a thread did before sending is visible to the receiver. */
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

/* Around such an object's work on its own words. */
PAWL_HOOK void pawl_hook_quiet(void)
{
    PAWL_TELL(pawl_debug_quiet());
}

PAWL_HOOK void pawl_hook_loud(void)
{
    PAWL_TELL(pawl_debug_loud());
}

/* What a mutex knows of itself, given the word that is nonzero while it is held. Without hooks nothing reads it. */
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
 * held, and forgets its place in the lock order. Without hooks this does nothing. */
PAWL_HOOK void pawl_destroy(void *l)
{
    pawl_hook_destroyed(l, "lock", PAWL_HOW_OWNER);
}
