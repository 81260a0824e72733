/* debug.h - the debug mode, for the library itself: what its functions tell, if it is on
 *
 * Code that is compiled with -DPAWL_DEBUG tells the same through <pawl/detail/hooks.h>, unless PAWL_DEBUG=0 is in the
 * environment. Whoever takes locks for others that were not compiled so (the functions with `_call` in
 * mutex.h, an interposer) does this:
 *
 *   if (PAWL_UNLIKELY(pawl_debug_on))
 *       pawl_debug_locking(l, "pthread_mutex_t", how);     ... then pawl_debug_locked(), and so on
 *
 * A library without it is made with PAWL_NO_DEBUG.
 */
#pragma once

#include <pawl/detail/hooks.h>

#ifdef PAWL_NO_DEBUG

enum { pawl_debug_on = 0 };

static inline bool pawl_debug_wait_begin(const void *l)
{
    (void)l;
    return false;
}

static inline void pawl_debug_wait_end(const void *l, const char *kind)
{
    (void)l, (void)kind;
}

static inline void pawl_debug_thread_end(void)
{
}

#else

/* Set by PAWL_DEBUG in the environment before main() starts, and constant from then on. */
extern bool pawl_debug_on;

/* A condition variable is about to release this lock. False if the calling thread is not known to hold it;
 * otherwise it is told of the end of the wait, too. */
bool pawl_debug_wait_begin(const void *l);
void pawl_debug_wait_end(const void *l, const char *kind);

/* The calling thread will take no more locks, or start anew if it does. */
void pawl_debug_thread_end(void);

#endif
