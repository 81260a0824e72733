/* wait.c - waiting for a condition variable, with a mutex of ours or of glibc
 *
 * A cancellation point. The kernel's wait alone is open to cancellation; wherever that strikes, the handler below
 * leaves the queue, or if it was signalled too late for that, passes the signal on, and has the mutex again before the
 * program's handlers run.
 *
 * Compiled for each lock: with pawl_mutex a waiter that is signalled moves to the mutex's queue, and is woken if it is the
 * head of that.
 */
#include "preload/cancel.h"
#include "cond.h"
#include "preload/mutex/lock.h"
#include "preload/mutex/mutex.h"

#include "src/cond.h"
#include "src/mutex.h"
#include "src/nested.h"
#include "src/park/futex.h"

#include <errno.h>

#define SITE __builtin_return_address(0)

#ifdef PRELOAD_REQUEUES
enum { REQUEUES = true };
#else
enum { REQUEUES = false };
#endif

enum { FORGOTTEN = -1 };

typedef struct waiting {
    pawl_cond *cond;
    pthread_mutex_t *mutex;
    const void *site;
    int clock;
    const struct timespec *deadline;
    bool ours;      /* the mutex                                                  */
    uint32_t depth; /* how often it was locked again                              */
    uint32_t era;   /* in which it is in the queue                                */
    bool counted;   /* `user` is in a queue                                        */
    pawl_sleeper me, user;
} waiting;

/* ---- the mutex */

/* A mutex of glibc's counts those that use it, and a wait is such a use: it cannot be destroyed. Ours has no room for a
 * count, so they queue up beside it. */
static const char *users_of(pthread_mutex_t *m)
{
    return (const char *)m + 1;
}

static void begin_use(waiting *w)
{
    const char *users = users_of(w->mutex);
    w->counted = w->ours && !pawl_nested_in(users);
    if (!w->counted)
        return;
    pawl_bucket *k = pawl_bucket_lock(users);
    pawl_queue_append(k, users, &w->user);
    pawl_bucket_unlock(k);
}

/* Not in a child that a signal handler has forked, where the queues are empty. */
static void end_use(waiting *w)
{
    if (!w->counted || era_now() != w->era)
        return;
    pawl_bucket *k = pawl_bucket_lock(users_of(w->mutex));
    pawl_queue_remove(k, &w->user);
    pawl_bucket_unlock(k);
}

bool mutex_is_waited_with(body *b)
{
    const char *users = users_of((pthread_mutex_t *)b);
    if (PAWL_UNLIKELY(pawl_nested_in(users)))
        return false;
    pawl_bucket *k = pawl_bucket_lock(users);
    bool used = pawl_queue_first(k, users) != NULL;
    pawl_bucket_unlock(k);
    return used;
}

static bool requeues(const waiting *w)
{
    return REQUEUES && w->ours;
}

static int let_go(waiting *w)
{
    if (!w->ours)
        return glibc()->mutex_unlock(w->mutex);
    w->depth = mutex_let_go(body_of(w->mutex));
    return 0;
}

static int take_back(waiting *w)
{
    if (!w->ours)
        return glibc()->mutex_lock(w->mutex);
    mutex_take_back(body_of(w->mutex), w->depth, w->site);
    return 0;
}

/* ---- sleeping */

/* Nothing but the system call can be interrupted for good. */
static int sleep_cancelable(waiting *w, uint32_t state, const struct timespec *deadline)
{
    int type;
    glibc()->setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    int result = pawl_futex_wait(&w->me.state, state, w->clock, deadline);
    glibc()->setcanceltype(type, NULL);
    return result;
}

static uint32_t state_of(const waiting *w)
{
    return atomic_load_explicit(&w->me.state, memory_order_acquire); /* F, of pawl_cond */
}

/* A signal handler has forked, and this is the child, in which the queue is empty. */
static bool is_forgotten(waiting *w)
{
    if (PAWL_LIKELY(era_now() == w->era))
        return false;
    w->me.next = NULL; /* nobody to pass a broadcast on to */
    return true;
}

/* Until it was signalled, or the time has come and it has left the queue. */
static int sleep_in_queue(waiting *w)
{
    if (requeues(w)) {
        while (pawl_cond_is_in_queue(w->cond, &w->me)) {
            int result = sleep_cancelable(w, PAWL_COND_WAITING, w->deadline);
            if (is_forgotten(w))
                return FORGOTTEN;
            if (result != 0 && pawl_cond_withdraw(w->cond, &w->me))
                return result;
        }
        return 0;
    }
    uint32_t state;
    while ((state = state_of(w)) != PAWL_COND_GO) {
        int result = sleep_cancelable(w, state, state == PAWL_COND_WAITING ? w->deadline : NULL);
        if (is_forgotten(w))
            return FORGOTTEN;
        if (result != 0 && pawl_cond_withdraw(w->cond, &w->me))
            return result;
    }
    return 0;
}

/* Has the mutex again. */
static int come_back(waiting *w, bool signalled)
{
    if (signalled && requeues(w)) {
        pawl_mutex_wait((pawl_mutex *)w->mutex, &w->me, CLOCK_MONOTONIC, NULL);
        mutex_got_back(body_of(w->mutex), w->depth, w->site);
        end_use(w);
        return 0;
    }
    int error = take_back(w);
    end_use(w);
    if (!requeues(w))
        pawl_cond_leave_call(&w->me);
    return error;
}

/* Whoever was signalled must not keep the signal to itself. By address: if nobody waits any more, the condition
 * variable may be gone, and is not touched. */
static void cancelled(void *argument)
{
    waiting *w = argument;
    int before = errno;
    bool signalled = !is_forgotten(w) && !pawl_cond_withdraw(w->cond, &w->me);
    if (signalled && !requeues(w)) {
        uint32_t state;
        while ((state = state_of(w)) != PAWL_COND_GO)
            pawl_futex_wait(&w->me.state, state, CLOCK_MONOTONIC, NULL);
    }
    come_back(w, signalled);
    if (signalled)
        pawl_cond_signal_waiters(w->cond, false);
    errno = before;
}

/* ---- waiting */

static int wait_with(waiting *w)
{
    int error = w->ours ? mutex_may_wait(body_of(w->mutex)) : 0;
    if (error != 0)
        return error;
    w->era = era_now();
    begin_use(w);
    pawl_cond_enqueue(w->cond, &w->me, requeues(w) ? (pawl_mutex *)w->mutex : NULL);
    error = let_go(w);
    if (error != 0) {
        if (!pawl_cond_withdraw(w->cond, &w->me))
            pawl_cond_signal_waiters(w->cond, false);
        end_use(w);
        return error;
    }
    int result;
    pthread_cleanup_push(cancelled, w);
    result = sleep_in_queue(w);
    pthread_cleanup_pop(0);
    error = come_back(w, result == 0);
    return error != 0 || result == FORGOTTEN ? error : result; /* a wait may end for no reason */
}

static void woken_up(void *argument)
{
    take_back(argument);
}

/* glibc's condition variables unlock a mutex in glibc's way, which would ruin ours; and a signal handler may have
 * interrupted its own thread at the queue. Both are rare, and a wait may end for no reason: so it does, soon. */
static int doze(waiting *w)
{
    int error = w->ours ? mutex_may_wait(body_of(w->mutex)) : 0;
    if (error == 0)
        error = let_go(w);
    if (error != 0)
        return error;
    struct timespec now, nap = {0, 1000000};
    pthread_cleanup_push(woken_up, w);
    nanosleep(&nap, NULL);
    pthread_cleanup_pop(0);
    error = take_back(w);
    if (error != 0 || w->deadline == NULL)
        return error;
    clock_gettime(w->clock, &now);
    return pawl_is_before(&now, w->deadline) ? 0 : ETIMEDOUT;
}

static int wait_until(pawl_cond *c, bool dozes, pthread_mutex_t *m, int clock,
                      const struct timespec *deadline, const void *site)
{
    int before = errno;
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error != 0)
        return error;
    waiting w = {.cond = c,
                 .mutex = m,
                 .site = site,
                 .clock = clock,
                 .deadline = deadline,
                 .ours = (kind_of(body_of(m)) & KIND_FORWARDED) == 0};
    bool held_off = cancel_hold_off();
    int result = dozes || PAWL_UNLIKELY(pawl_nested_in(c)) ? doze(&w) : wait_with(&w);
    cancel_allow(held_off);
    errno = before;
    return result;
}

/* Both of glibc's. */
static bool is_glibcs(const pthread_cond_t *c, pthread_mutex_t *m)
{
    return cond_is_glibcs(c) && (kind_of(body_of(m)) & KIND_FORWARDED) != 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    if (is_glibcs(c, m))
        return glibc()->cond_wait(c, m);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, CLOCK_MONOTONIC, NULL, SITE);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                  const struct timespec *restrict deadline)
{
    if (is_glibcs(c, m))
        return glibc()->cond_timedwait(c, m, deadline);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, cond_clock(c), deadline, SITE);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
                                  const struct timespec *restrict deadline)
{
    if (is_glibcs(c, m))
        return glibc()->cond_clockwait(c, m, clock, deadline);
    return wait_until(cond_in(c), cond_is_glibcs(c), m, clock, deadline, SITE);
}

#ifdef OF_OLD_COND

int old_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    return wait_until(cond_in(c), false, m, CLOCK_MONOTONIC, NULL, SITE);
}

int old_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
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
#define ALIAS(name, of) extern __typeof(of) name __attribute__((alias(#of), visibility("hidden")))
ALIAS(own_cond_wait, pthread_cond_wait);
ALIAS(own_cond_timedwait, pthread_cond_timedwait);
