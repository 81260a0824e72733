/* cond.c - pthread_cond_*: all but waiting */
#include "cond.h"
#include "preload/cancel.h"
#include "preload/mutex/mutex.h"

#include <string.h>

EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    clockid_t clock = CLOCK_REALTIME;
    if (attributes != NULL) {
        pthread_condattr_getpshared(attributes, &shared);
        pthread_condattr_getclock(attributes, &clock);
    }
    if (shared == PTHREAD_PROCESS_SHARED)
        return glibc()->cond_init(c, attributes);
    memset(c, 0, sizeof *c);
    c->__data.__wrefs = clock == CLOCK_MONOTONIC ? COND_MONOTONIC : 0;
    return 0;
}

/* Whoever was signalled never looks at it again, so nobody has to be waited for. */
EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
    return cond_is_glibcs(c) ? glibc()->cond_destroy(c) : 0;
}

/* After a fork it may count waiters of which none exists. */
__attribute__((noinline)) static void signal_waiters(pawl_cond *c, bool all)
{
    bool held_off = cancel_hold_off();
    era_now();
    pawl_cond_signal_waiters(c, all);
    cancel_allow(held_off);
}

static bool somebody_waits(pawl_cond *c)
{
    return atomic_load_explicit(&c->waiters, memory_order_acquire) != 0; /* G, of pawl_cond */
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
    if (PAWL_UNLIKELY(cond_is_glibcs(c)))
        return glibc()->cond_signal(c);
    if (somebody_waits(cond_in(c)))
        signal_waiters(cond_in(c), false);
    return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
    if (PAWL_UNLIKELY(cond_is_glibcs(c)))
        return glibc()->cond_broadcast(c);
    if (somebody_waits(cond_in(c)))
        signal_waiters(cond_in(c), true);
    return 0;
}

#define ALIAS(name, of) extern __typeof(of) name __attribute__((alias(#of), visibility("hidden")))
ALIAS(own_cond_init, pthread_cond_init);
ALIAS(own_cond_destroy, pthread_cond_destroy);
ALIAS(own_cond_signal, pthread_cond_signal);
ALIAS(own_cond_broadcast, pthread_cond_broadcast);
