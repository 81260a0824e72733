/* settle.c - mutexes that come from before a fork
 *
 * Those that waited for such a mutex do not exist here, and what they left in it means nothing. If it was free, it is
 * made new by whoever wants it first. If it was held, the thread that forked may be the owner: then it is made new as
 * its. Others wait until it unlocks; if the owner was another thread, for ever, as they would with glibc's mutex.
 *
 * Compiled for each lock, because of what it is to be held. */
#include "preload/fork/era.h"
#include "lock.h"
#include "mutex.h"

#include "src/park/futex.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static uint32_t era_of(uint32_t meta)
{
    return meta & META_ERA;
}

static bool change(body *b, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&b->meta, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* All but the kind. The lock may be anywhere in it. */
static void make_new(body *b, uint32_t meta, bool mine)
{
    memset(b->first, 0, sizeof b->first);
    memset(b->second, 0, sizeof b->second);
    memset(b->third, 0, sizeof b->third);
    if (mine)
        try_anyhow(b);
    set_owner(b, mine ? self.tid : 0);
    atomic_store_explicit(&b->meta, meta, memory_order_release);
}

/* Keeps the owner's count. */
static void inherit(body *b, uint32_t seen, uint32_t now)
{
    if (!change(b, seen, META_NO_ERA))
        return;
    make_new(b, now | (seen & META_DEPTH), true);
    pawl_futex_wake_bits(&b->meta, PAWL_ALL_BITS);
}

static int await_owner(body *b, uint32_t seen, const demand *d)
{
    if (!d->waits)
        return EBUSY;
    int error = d->deadline != NULL ? pawl_deadline_check(d->clock, d->deadline) : 0;
    return error != 0 ? error : pawl_futex_wait(&b->meta, seen, d->clock, d->deadline);
}

static int settle_once(body *b, uint32_t seen, uint32_t now, const demand *d)
{
    uint32_t owner = owner_of(b);
    if (era_of(seen) == META_NO_ERA) {
        sched_yield();
    } else if (era_of(seen) == 0) {
        change(b, seen, seen | now);
    } else if (owner == 0) {
        if (change(b, seen, META_NO_ERA))
            make_new(b, now, false);
    } else if (era_was_me(owner, seen) || (d == NULL && !is_checked(b))) {
        inherit(b, seen, now);
    } else {
        return d != NULL ? await_owner(b, seen, d) : EPERM;
    }
    return 0;
}

static int settle_in(uint32_t now, body *b, const demand *d)
{
    uint32_t seen;
    int error = 0;
    while (error == 0 && era_of(seen = atomic_load_explicit(&b->meta, memory_order_acquire)) != now)
        error = settle_once(b, seen, now, d);
    return error;
}

int settle(body *b, const demand *d)
{
    return settle_in(era_now(), b, d);
}

int settle_mine(body *b)
{
    return settle_in(era_now(), b, NULL);
}
