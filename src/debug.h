/* debug.h - the debug mode inside the library: what functions report if it is on
 *
 * Code compiled with -DPAWL_DEBUG reports the same through <pawl/detail/hooks.h>, unless PAWL_DEBUG=0 is in the
 * environment. Code that locks on behalf of programs compiled without it (the `_call` functions of mutex.h, an
 * interposer) does this:
 *
 *   if (PAWL_UNLIKELY(pawl_debug_on))
 *       pawl_debug_locking(l, "pthread_mutex_t", how);     ... then pawl_debug_locked(), and so on
 *
 * PAWL_NO_DEBUG makes a library without it.
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

/* A condition variable is about to release this lock. False if the calling thread is not known to hold it; if true,
 * pawl_debug_wait_end() must follow. */
bool pawl_debug_wait_begin(const void *l);
void pawl_debug_wait_end(const void *l, const char *kind);

/* The calling thread ends; if it locks again, it starts anew. */
void pawl_debug_thread_end(void);

#endif
