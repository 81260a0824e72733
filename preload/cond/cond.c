/* cond.c - pthread_cond_init(), _destroy(), _signal() and _broadcast() */
#include "cond.h"
#include "preload/cancel.h"
#include "preload/mutex/slow.h"
#include "preload/stats/stats.h"

#include <errno.h>
#include <string.h>
#include <threads.h>

#define SITE __builtin_return_address(0)

static unsigned wanted_by(const pthread_condattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    clockid_t clock = CLOCK_REALTIME;
    if (attributes != NULL) {
        pthread_condattr_getpshared(attributes, &shared);
        pthread_condattr_getclock(attributes, &clock);
    }
    return (shared == PTHREAD_PROCESS_SHARED ? COND_SHARED : 0) |
           (clock == CLOCK_MONOTONIC ? COND_MONOTONIC : 0);
}

/* A shared one is then as glibc would have made it. */
EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes)
{
    memset(c, 0, sizeof *c);
    c->__data.__wrefs = wanted_by(attributes);
    return 0;
}

/* No need to wait for anyone: a signalled waiter does not touch it again. */
EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
    return cond_is_glibcs(c) ? glibc()->cond_destroy(c) : 0;
}

/* After a fork `waiters` may count threads that do not exist here; epoch_now() empties the queues. */
__attribute__((noinline)) static void signal_waiters(pawl_cond *c, bool all, const void *site)
{
    bool held_off = cancel_hold_off();
    epoch_now();
    if (stats_on)
        stats_signalled(c, site);
    pawl_cond_signal_waiters(c, all);
    cancel_allow(held_off);
}

static inline int signal_if_any(pawl_cond *c, bool all, const void *site)
{
    if (atomic_load_explicit(&c->waiters, memory_order_acquire) != 0) /* G, of pawl_cond */
        signal_waiters(c, all, site);
    return 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
    if (PAWL_UNLIKELY(cond_is_glibcs(c)))
        return glibc()->cond_signal(c);
    return signal_if_any(cond_in(c), false, SITE);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
    if (PAWL_UNLIKELY(cond_is_glibcs(c)))
        return glibc()->cond_broadcast(c);
    return signal_if_any(cond_in(c), true, SITE);
}

/* ---- C11's, which are never shared */

EXPORT int cnd_signal(cnd_t *c)
{
    return signal_if_any((pawl_cond *)c, false, SITE);
}

EXPORT int cnd_broadcast(cnd_t *c)
{
    return signal_if_any((pawl_cond *)c, true, SITE);
}

_Static_assert(thrd_success == 0, "they return what POSIX's return");

#ifdef OF_OLD_COND

/* A condition variable of GLIBC_2.2.5 ends before __wrefs: no clock, no sharing. glibc keeps a pointer to a larger
 * object in it; ours fits. */
EXPORT int old_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes)
{
    if (wanted_by(attributes) != 0)
        return EINVAL;
    memset(c, 0, sizeof(pawl_cond));
    return 0;
}

EXPORT int old_cond_destroy(pthread_cond_t *c)
{
    (void)c;
    return 0;
}

EXPORT int old_cond_signal(pthread_cond_t *c)
{
    return signal_if_any(cond_in(c), false, SITE);
}

EXPORT int old_cond_broadcast(pthread_cond_t *c)
{
    return signal_if_any(cond_in(c), true, SITE);
}

OF_OLD_COND(old_cond_init, pthread_cond_init);
OF_OLD_COND(old_cond_destroy, pthread_cond_destroy);
OF_OLD_COND(old_cond_signal, pthread_cond_signal);
OF_OLD_COND(old_cond_broadcast, pthread_cond_broadcast);

#endif

OF_COND(pthread_cond_init);
OF_COND(pthread_cond_destroy);
OF_COND(pthread_cond_signal);
OF_COND(pthread_cond_broadcast);
MOVED(cnd_signal, "2.28");
MOVED(cnd_broadcast, "2.28");
#define ALIAS(name, of) extern __typeof(of) name __attribute__((alias(#of), visibility("hidden")))
ALIAS(local_cond_init, pthread_cond_init);
