/* region_line.c - the line before a shared lock
 *
 * A queue of hapaxes, as in Hapax locks: an arrival swaps its own into `arrive` and waits while its predecessor's seat
 * shows that hapax. Here the waiting array is the seats: a thread waits in one line at a time, and a hapax names its
 * seat, so no two ever collide. The first in line competes for the word with whoever barges.
 */
#include "fatal.h"
#include "park/futex.h"
#include "park/pause.h"
#include "region_word.h"

#include <pawl/detail/wait.h>

#include <errno.h>

#ifdef PAWL_HAS_REGIONS

/* In nanoseconds: how long a waiter watches before it sleeps, the first in line is barged
 * past before it asks to be next, and the first and the longest sleep without a question for the dead. */
#ifndef PAWL_SHARED_WATCH
#define PAWL_SHARED_WATCH 4000u
#endif
#ifndef PAWL_SHARED_SHARE
#define PAWL_SHARED_SHARE 1000000
#endif
#ifndef PAWL_SHARED_PATIENCE
#define PAWL_SHARED_PATIENCE 1000000
#endif
enum { MOST_PATIENCE = 128000000 };

/* ---- the first in line */

typedef struct head {
    pawl_region *region;
    pawl_robust *lock;
    uint32_t me;
    uint64_t since;
    long patience;
    bool asked;
} head;

/* Only one can be `heir`; there is another first in line only after a death. */
static bool ask(head *h)
{
    uint32_t heir = 0;
    if (!atomic_compare_exchange_strong_explicit(&h->lock->heir, &heir, h->me, memory_order_relaxed,
                                                 memory_order_relaxed) &&
        (!pawl_seat_is_dead(h->region, heir) ||
         !atomic_compare_exchange_strong_explicit(&h->lock->heir, &heir, h->me, memory_order_relaxed,
                                                  memory_order_relaxed)))
        return false;
    PAWL_REGION_STEP("head: is the heir");
    return true;
}

static long rest_of_share(const head *h)
{
    uint64_t waited = pawl_nanoseconds(CLOCK_MONOTONIC) - h->since;
    return waited < PAWL_SHARED_SHARE ? (long)(PAWL_SHARED_SHARE - waited) : 0;
}

static long be_patient(long *patience)
{
    long now = *patience;
    if (now < MOST_PATIENCE)
        *patience *= 2;
    return now;
}

/* Sleeps while `owner` is as it was. True if the owner was dead and the lock is mine. */
static bool sleep_as_head(head *h, uint32_t owner)
{
    long most = h->asked ? 0 : rest_of_share(h);
    if (most == 0 && !h->asked)
        h->asked = ask(h);
    if (most == 0)
        most = be_patient(&h->patience);
    uint32_t marked = owner | WAITERS | (h->asked ? HANDOFF : 0);
    /* H: whoever sees the flag sees the heir */
    if (marked != owner && !atomic_compare_exchange_strong_explicit(
                               &h->lock->owner, &owner, marked, memory_order_release, memory_order_relaxed))
        return false;
    PAWL_REGION_STEP("head: has announced itself");
    bool woken = pawl_futex_wait_shared(&h->lock->owner, marked, most);
    PAWL_REGION_STEP("head: is up");
    return !woken && inherit(h->region, h->lock, marked, h->me);
}

static int take_as_head(pawl_region *r, pawl_robust *l, uint32_t me)
{
    head h = {r, l, me, pawl_nanoseconds(CLOCK_MONOTONIC), PAWL_SHARED_PATIENCE, false};
    uint32_t watch = pawl_pauses(PAWL_SHARED_WATCH);
    int error = 0;
    for (;;) {
        uint32_t owner = atomic_load_explicit(&l->owner, memory_order_relaxed), mine = as_mine(owner, me);
        if (owner == BROKEN) {
            error = ENOTRECOVERABLE;
            break;
        }
        if (mine != 0 && take(l, owner, mine))
            break;
        if (mine != 0)
            continue;
        if (watch > 0) {
            watch--;
            pawl_pause();
        } else if (sleep_as_head(&h, owner)) {
            break;
        }
    }
    if (h.asked) {
        uint32_t heir = me;
        atomic_compare_exchange_strong_explicit(&l->heir, &heir, 0, memory_order_relaxed,
                                                memory_order_relaxed);
        PAWL_REGION_STEP("head: is the heir no more");
    }
    return error;
}

/* ---- the line */

static uint64_t next_hapax(pawl_seat *seat, uint32_t me)
{
    if (PAWL_UNLIKELY(++seat->count >> (64 - PAWL_SEAT_BITS) != 0))
        pawl_fatal("pawl: hapax values of a seat exhausted (2^54 were used)\n");
    return seat->count << PAWL_SEAT_BITS | (me & PAWL_SEATS);
}

/* Orders nothing: `owner` excludes. */
static bool is_queued(pawl_seat *seat, uint64_t hapax)
{
    return atomic_load_explicit(&seat->queued, memory_order_relaxed) == hapax;
}

/* Sleeps until the seat's bell, for so long at most. */
static bool sleep_behind(pawl_seat *seat, uint64_t pred, long most)
{
    uint32_t bell =
        atomic_fetch_or_explicit(&seat->bell, 1, memory_order_seq_cst) | 1; /* Q: the bell first */
    PAWL_REGION_STEP("line: has announced itself");
    if (atomic_load_explicit(&seat->queued, memory_order_seq_cst) != pred) /* Q: and then the place in line */
        return true;
    bool woken = pawl_futex_wait_shared(&seat->bell, bell, most);
    PAWL_REGION_STEP("line: is up");
    return woken;
}

/* Until the predecessor has left the line, or is found dead. */
static void wait_behind(pawl_region *r, uint64_t pred)
{
    pawl_seat *seat = pawl_seat_at(r, pred);
    if (seat == NULL)
        return; /* nobody, or nonsense in the lock */
    uint32_t watch = pawl_pauses(PAWL_SHARED_WATCH);
    long patience = PAWL_SHARED_PATIENCE;
    while (is_queued(seat, pred)) {
        if (watch > 0) {
            watch--;
            pawl_pause();
        } else if (!sleep_behind(seat, pred, be_patient(&patience))) {
            pawl_seat_clear(seat);
        }
    }
}

static void leave_line(pawl_robust *l, pawl_seat *seat, uint64_t mine)
{
    pawl_cas_relaxed(&l->arrive, mine, 0); /* if nobody is behind */
    PAWL_REGION_STEP("line: is not the last");
    atomic_store_explicit(&seat->queued, 0, memory_order_seq_cst); /* Q: and then the bell */
    PAWL_REGION_STEP("line: has left");
    if (atomic_load_explicit(&seat->bell, memory_order_seq_cst) & 1) { /* Q */
        atomic_fetch_add_explicit(&seat->bell, 1, memory_order_relaxed);
        PAWL_REGION_STEP("line: has rung");
        pawl_futex_wake_shared(&seat->bell);
    }
}

int pawl_line_lock(pawl_region *r, pawl_robust *l, uint32_t me)
{
    pawl_seat *seat = pawl_seat_at(r, me);
    uint64_t mine = next_hapax(seat, me);
    PAWL_REGION_STEP("line: has drawn");
    atomic_store_explicit(&seat->queued, mine, memory_order_relaxed);
    PAWL_REGION_STEP("line: shows its hapax");
    uint64_t pred =
        atomic_exchange_explicit(&l->arrive, mine, memory_order_seq_cst); /* L: shows it first; F */
    PAWL_REGION_STEP("line: has arrived");
    wait_behind(r, pred);
    PAWL_REGION_STEP("line: is first");
    int error = take_as_head(r, l, me);
    PAWL_REGION_STEP("line: has the lock");
    leave_line(l, seat, mine);
    return error;
}

/* A dead thread that was the last in line would keep everybody from trying. */
void pawl_line_forget_dead(pawl_region *r, pawl_robust *l)
{
    uint64_t last = atomic_load_explicit(&l->arrive, memory_order_acquire); /* L: it shows its hapax */
    pawl_seat *seat = pawl_seat_at(r, last);
    if (seat == NULL)
        return;
    pawl_seat_clear(seat);
    if (!is_queued(seat, last))
        pawl_cas_relaxed(&l->arrive, last, 0);
}

#endif
