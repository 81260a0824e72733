/* wait.c - pthread_cond_wait() and its kin */
#include "wait.h"
#include "preload/c11.h"
#include "preload/cancel.h"
#include "preload/fork/epoch.h"
#include "preload/mutex/slow.h"
#include "preload/stats/stats.h"

#include "src/park/futex.h"
#include "src/reentry.h"

#include <errno.h>

#define SITE __builtin_return_address(0)

int wait_unlock(cond_wait *w)
{
    int error = 0;
    if (w->ours)
        w->depth = mutex_unlock_all(mutex_of(w->mutex));
    else
        error = glibc()->mutex_unlock(w->mutex);
    if (error != 0)
        wait_cancelled(w);
    return error;
}

int wait_relock(cond_wait *w)
{
    if (!w->ours)
        return glibc()->mutex_lock(w->mutex);
    mutex_relock(mutex_of(w->mutex), w->depth, w->site);
    return 0;
}

void wait_woken(cond_wait *w, bool signalled)
{
    if (w->call == NULL)
        return;
    epoch_now(); /* in a child, the tables are the parent's until then */
    stats_cond_woken(w->call, signalled);
}

void wait_cancelled(cond_wait *w)
{
    if (w->call == NULL)
        return;
    epoch_now();
    stats_wait_end(w->call);
    w->call = NULL;
}

static void cancelled(void *argument)
{
    wait_cancelled(argument);
    wait_relock(argument);
}

/* Wakes spuriously, after a millisecond. Where there is no queue to wait in: glibc's condition variable would unlock our
 * mutex in glibc's way, and ruin it; or a signal handler interrupted its own thread in the bucket of the queue. */
static int wait_briefly(cond_wait *w)
{
    int error = wait_unlock(w);
    if (error != 0)
        return error;
    struct timespec now, nap = {0, 1000000};
    pthread_cleanup_push(cancelled, w);
    nanosleep(&nap, NULL);
    pthread_cleanup_pop(0);
    wait_woken(w, false);
    error = wait_relock(w);
    if (error != 0 || w->deadline == NULL)
        return error;
    clock_gettime(w->clock, &now);
    return pawl_is_before(&now, w->deadline) ? 0 : ETIMEDOUT;
}

static int wait_until(pawl_cond *c, bool briefly, pthread_mutex_t *m, int clock,
                      const struct timespec *deadline, const void *site)
{
    int before = errno;
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error != 0)
        return error;
    cond_wait w = {.cond = c,
                   .mutex = m,
                   .site = site,
                   .clock = clock,
                   .deadline = deadline,
                   .ours = !is_glibcs(mutex_of(m))};
    bool held_off = cancel_hold_off();
    if (w.ours)
        error = mutex_check_wait(mutex_of(m));
    if (error == 0)
        pthread_testcancel(); /* a signal that comes at once would keep it from being acted on */
    stats_call call;
    if (stats_on && error == 0) {
        epoch_now();
        stats_ask(&call, c, STATS_COND, site);
        stats_wait_begin(&call);
        w.call = &call;
    }
    if (error == 0)
        error = briefly || PAWL_UNLIKELY(pawl_is_reentry(c)) ? wait_briefly(&w) : wait_in_queue(&w);
    if (w.call != NULL)
        stats_cond_waited(&call);
    cancel_allow(held_off);
    errno = before;
    return error;
}

static bool are_glibcs(const pthread_cond_t *c, pthread_mutex_t *m)
{
    return cond_is_glibcs(c) && is_glibcs(mutex_of(m));
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    if (are_glibcs(c, m))
        return glibc()->cond_wait(c, m);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, CLOCK_MONOTONIC, NULL, SITE);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                  const struct timespec *restrict deadline)
{
    if (are_glibcs(c, m))
        return glibc()->cond_timedwait(c, m, deadline);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, cond_clock(c), deadline, SITE);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
                                  const struct timespec *restrict deadline)
{
    if (are_glibcs(c, m))
        return glibc()->cond_clockwait(c, m, clock, deadline);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, clock, deadline, SITE);
}

/* ---- C11's */

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
    return c11_result(wait_until((pawl_cond *)c, false, (pthread_mutex_t *)m, CLOCK_MONOTONIC, NULL, SITE));
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict deadline)
{
    return c11_result(
        wait_until((pawl_cond *)c, false, (pthread_mutex_t *)m, CLOCK_REALTIME, deadline, SITE));
}

#ifdef OF_OLD_COND

EXPORT int old_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    return wait_until(cond_in(c), false, m, CLOCK_MONOTONIC, NULL, SITE);
}

EXPORT int old_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                              const struct timespec *restrict deadline)
{
    return wait_until(cond_in(c), false, m, CLOCK_REALTIME, deadline, SITE);
}

OF_OLD_COND(old_cond_wait, pthread_cond_wait);
OF_OLD_COND(old_cond_timedwait, pthread_cond_timedwait);

#endif

OF_COND(pthread_cond_wait);
OF_COND(pthread_cond_timedwait);
MOVED(pthread_cond_clockwait, "2.30");
MOVED(cnd_wait, "2.28");
MOVED(cnd_timedwait, "2.28");
