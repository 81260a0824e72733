/* thread_exit.c - runs pawl_thread_leave() when a POSIX thread ends
 *
 * A thread-specific key, because it works for every thread of the process, however it was made. The lab
 * has its own version of this file for its simulated threads.
 */
#include <pawl/detail/thread.h>
#include "debug.h"
#include "unload.h"
#include "valgrind.h"

#include <pthread.h>

/* Only a program that uses debug mode has it linked in. */
#pragma weak pawl_debug_thread_end

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;
static __thread bool entered __attribute__((tls_model("initial-exec")));

static void make_key(void);

/* Early, to get one of the first keys: libc allocates memory for later ones, and the lock that needs the key may be
 * the allocator's. */
#ifndef PAWL_IN_PTHREAD_MUTEX /* there only a lock that needs it takes one of the program's 1024 keys */
__attribute__((constructor(101)))
#endif
void pawl_thread_expect(void)
{
    pthread_once(&once, make_key);
}

static void leave(void *unused)
{
    (void)unused;
    entered = false; /* a destructor that locks again calls pawl_thread_enter() again */
    valgrind_quiet();
    if (pawl_debug_thread_end != NULL)
        pawl_debug_thread_end();
    pawl_thread_leave();
    valgrind_loud();
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, leave) == 0;
}

bool pawl_thread_enter(void)
{
    if (entered)
        return true;
    pthread_once(&once, make_key);
    /* Set before the call, which may allocate and come back here. Without a key (the process has used up all of them)
     * the thread's few nodes are lost at its end, and Overlap waits for its successor in unlock. */
    entered = true;
    entered = have_key && pthread_setspecific(key, &entered) == 0;
    return entered;
}

/* ---- libpawl.a in a plugin, which dlclose() unloads
 *
 * Threads that have used it live on, and must not call leave() at their end: their nodes are lost. Elsewhere the
 * destructor runs at the end of the process, while threads still lock and end, and does nothing. */

__attribute__((destructor(101))) static void forget_threads(void)
{
    if (!have_key || !can_be_unloaded())
        return;
    have_key = false;
    pthread_key_delete(key);
}
