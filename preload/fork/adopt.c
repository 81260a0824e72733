/* adopt.c - mutexes from before a fork
 *
 * The threads that waited for such a mutex do not exist in the child; what they left in it is stale. A free mutex is
 * reset by the first thread that wants it. One held by the thread that forked is reset and locked for that thread;
 * other threads wait until it unlocks. One held by any other thread stays locked for ever, as with glibc.
 */
#include "epoch.h"
#include "preload/mutex/reentry.h"
#include "preload/mutex/slow.h"

#include "src/park/futex.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static uint32_t epoch_of(uint32_t meta)
{
    return meta & META_EPOCH;
}

static bool change(mutex *m, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&m->meta, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* All but the kind: the lock may be anywhere in it. */
static void reset(mutex *m, uint32_t meta, bool mine)
{
    memset(m->first, 0, sizeof m->first);
    memset(m->second, 0, sizeof m->second);
    memset(m->third, 0, sizeof m->third);
    if (mine)
        reentrant_try(m);
    set_owner(m, mine ? self.tid : 0);
    atomic_store_explicit(&m->meta, meta, memory_order_release);
}

/* Keeps the count of relocks. */
static void inherit(mutex *m, uint32_t seen, uint32_t now)
{
    if (!change(m, seen, META_RENEWING))
        return;
    reset(m, now | (seen & META_DEPTH), true);
    pawl_futex_wake_bits(&m->meta, PAWL_ALL_BITS);
}

/* The holder may not exist in this process: then nobody ends the wait, and statistics are all there is to show it. */
static int await_unlock(mutex *m, uint32_t seen, const request *r, stats_call *call)
{
    if (call != NULL)
        stats_ask_once(call, m, r->site);
    if (!r->waits) {
        if (call != NULL)
            stats_refused(call);
        return EBUSY;
    }
    int error = r->deadline != NULL ? pawl_deadline_check(r->clock, r->deadline) : 0;
    if (call != NULL)
        stats_wait_once(call);
    return error == 0 ? pawl_futex_wait(&m->meta, seen, r->clock, r->deadline) : error;
}

/* One step; a null request is an unlock. */
static int adopt_once(mutex *m, uint32_t seen, uint32_t now, const request *r, stats_call *call)
{
    uint32_t owner = owner_of(m);
    if (epoch_of(seen) == META_RENEWING) {
        sched_yield();
    } else if (epoch_of(seen) == 0) {
        change(m, seen, seen | now);
    } else if (owner == 0) {
        if (change(m, seen, META_RENEWING))
            reset(m, now, false);
    } else if (is_my_tid(owner, seen) || (r == NULL && !is_checked(m))) {
        inherit(m, seen, now);
    } else {
        return r != NULL ? await_unlock(m, seen, r, call) : EPERM;
    }
    return 0;
}

static int adopt_for(mutex *m, const request *r, stats_call *call)
{
    uint32_t seen, now = epoch_now();
    int error = 0;
    while (error == 0 && epoch_of(seen = atomic_load_explicit(&m->meta, memory_order_acquire)) != now)
        error = adopt_once(m, seen, now, r, call);
    return error;
}

int adopt(mutex *m, const request *r, stats_call *call)
{
    return adopt_for(m, r, call);
}

int adopt_to_unlock(mutex *m)
{
    return adopt_for(m, NULL, NULL);
}
