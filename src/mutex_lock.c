/* mutex_lock.c - pawl_mutex: waiting for it */
#include "mutex.h"
#include "reentry.h"
#include "park/futex.h"
#include "park/hint.h"
#include "park/pause.h"
#include "park/timeslice.h"
#include "park/yield.h"

#include <pawl/detail/wait.h>

#include <errno.h>

/* Nanoseconds of spinning: before a thread queues up; as the head of the queue; after it asked for a hand-off; and
 * just before it sleeps, for a release that has not seen it lie down. */
#ifndef PAWL_MUTEX_SPIN_FIRST
#define PAWL_MUTEX_SPIN_FIRST 1000u
#endif
#ifndef PAWL_MUTEX_SPIN_HEAD
#define PAWL_MUTEX_SPIN_HEAD 2000u
#endif
#ifndef PAWL_MUTEX_SPIN_HANDOFF
#define PAWL_MUTEX_SPIN_HANDOFF 20000u
#endif
#ifndef PAWL_MUTEX_SPIN_WATCH
#define PAWL_MUTEX_SPIN_WATCH 1000u
#endif
#ifndef PAWL_MUTEX_YIELDS
#define PAWL_MUTEX_YIELDS 8
#endif
#ifndef PAWL_MUTEX_STAY
#define PAWL_MUTEX_STAY 500000u /* nanoseconds of yielding after asking for a hand-off */
#endif
#define NAP      4000000u /* the first sleep after asking for a hand-off; doubles each time */
#define NAP_MOST 500000000u
/* Nanoseconds between two looks while spinning; doubles from FIRST to MOST. Each look costs the owner a miss: with
 * two threads and no work outside the lock, looks that begin at 12 ns halve the throughput. */
#define LOOK_FIRST  100u
#define LOOK_MOST   800u
#define LATE        128 /* ticks after which a release wakes a head that its timer should have woken */
#define LOSSES_MOST 8   /* 2^8 ticks: how long the mutex may be free while a waiter sleeps */

/* What the head of a queue keeps to itself. */
typedef struct head {
    uint64_t nap; /* its last sleep after asking for a hand-off, or 0 */
    bool slept;   /* it has slept since it came                       */
    bool asked;   /* for a hand-off                                   */
    bool stays;   /* up until it comes: sections are long             */
    bool timed;   /* it has a deadline                                */
} head;

static uint32_t state(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_relaxed);
}

static bool is_owner(const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) ==
           PAWL_OWNER; /* B: sees the critical section */
}

static bool looks_free(const pawl_mutex *m)
{
    return atomic_load_explicit(&m->held, memory_order_relaxed) == 0;
}

/* Also says whose it is, as far as the hint knows this thread. */
static bool take(pawl_mutex *m, uint32_t slot)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong_explicit(&m->held, &free, PAWL_M_HELD_BY(slot),
                                                   memory_order_acquire, memory_order_relaxed); /* A */
}

/* The owner has lost its CPU, or sleeps: it is a while until the mutex is free. */
static bool is_owner_off(const pawl_mutex *m)
{
    return pawl_hint_is_off(atomic_load_explicit(&m->held, memory_order_relaxed) / 2);
}

/* Nobody else is there to yield to, either. */
static bool is_vain(const pawl_mutex *m)
{
    return is_owner_off(m) && pawl_hint_cpu() == PAWL_CPU_OURS;
}

/* A section may be over in a moment: a microsecond of the usual time is spun even if somebody wants the CPU. Whoever
 * watches does not believe that the owner is off: that may be wrong, and a release missed. */
static bool spins_on(const pawl_mutex *m, uint32_t as, uint32_t spun, uint32_t usual)
{
    return (as == PAWL_WATCHING || !is_owner_off(m)) &&
           (pawl_hint_looks_on(spun, usual) ||
            (spun < usual && spun < pawl_pauses_in(PAWL_MUTEX_SPIN_FIRST)));
}

/* Spins that long, or as the hint says, or until somebody changes the waiter's state. True if the mutex is ours. */
static bool spin(pawl_mutex *m, const pawl_sleeper *w, uint32_t as, uint32_t slot, uint32_t nanoseconds)
{
    uint32_t spun = 0, usual = pawl_pauses(nanoseconds),
             step = 1 + (uint32_t)((uint64_t)usual * LOOK_FIRST / (nanoseconds + 1)),
             most = step * (LOOK_MOST / LOOK_FIRST);
    while ((w == NULL || state(w) == as) && spins_on(m, as, spun, usual)) {
        uint32_t end = spun < usual && usual - spun < step ? usual : spun + step;
        for (; spun < end; spun++)
            pawl_pause();
        if (looks_free(m) && take(m, slot))
            return true;
        if (step < most)
            step *= 2;
    }
    return false;
}

/* ---- as the head of the queue */

static unsigned losses(const pawl_mutex *m)
{
    return atomic_load_explicit(&m->losses, memory_order_relaxed);
}

static void set_losses(pawl_mutex *m, unsigned to)
{
    atomic_store_explicit(&m->losses, (uint8_t)to, memory_order_relaxed);
}

/* Lets others run, perhaps an owner that lost its CPU. Not after a loss: then the mutex is hardly ever free, and each
 * look costs the owner a miss. */
static bool yield(pawl_mutex *m, const pawl_sleeper *w)
{
    int times = losses(m) == 0 && !is_vain(m) ? PAWL_MUTEX_YIELDS : 0;
    for (; times > 0 && state(w) == PAWL_AWAKE; times--) {
        pawl_yield_once();
        if (looks_free(m) && take(m, w->slot))
            return true;
    }
    return false;
}

/* Until the hand-off comes, if nobody else wants the CPU: a hand-off to a sleeper keeps everybody waiting until it is
 * up. True if the mutex is ours, because a release was under way that had not seen the request. */
static bool stay_up(pawl_mutex *m, const pawl_sleeper *w)
{
    uint32_t start = pawl_ticks();
    while (state(w) == PAWL_AWAKE && pawl_ticks() - start < PAWL_TICKS(PAWL_MUTEX_STAY) && !is_vain(m) &&
           pawl_yield())
        if (looks_free(m) && take(m, w->slot))
            return true;
    return false;
}

/* It has the mutex, and leaves the queue. */
static void depart(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_mutex_dequeue(b, m, w);
    pawl_bucket_unlock(b);
}

/* Asks for a hand-off if its share is over. */
static void ask_if_due(pawl_mutex *m, pawl_sleeper *w, head *h)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    uint32_t now = pawl_ticks();
    if (state(w) != PAWL_OWNER && pawl_mutex_left(m, now) == 0) {
        pawl_mutex_set_bits(m, PAWL_M_ASKS, pawl_mutex_bits(m) | PAWL_M_HANDOFF);
        m->looked = (uint16_t)now; /* the section lasts from now on, at least */
        h->asked = true;
        h->stays = m->step == 0 && !h->timed; /* every release reads the clock */
    }
    pawl_bucket_unlock(b);
}

/* True if the mutex is ours. */
static bool compete(pawl_mutex *m, pawl_sleeper *w, head *h)
{
    bool won = take(m, w->slot);
    if (won && h->slept) /* it stayed free until this thread was up: wake heads sooner */
        set_losses(m, 0);
    if (!won && h->slept && !h->asked)
        ask_if_due(m, w, h);
    bool ours = won ||
                spin(m, w, PAWL_AWAKE, w->slot, h->asked ? PAWL_MUTEX_SPIN_HANDOFF : PAWL_MUTEX_SPIN_HEAD) ||
                yield(m, w) || (h->stays && stay_up(m, w));
    if (ours)
        depart(m, w);
    return ours;
}

/* It lost. From now on a release may wake it, and its timer will, but the later the more often it lost. Returns how
 * long to sleep. */
static uint64_t lie_down(pawl_mutex *m, pawl_sleeper *w, head *h)
{
    uint64_t left = 0;
    pawl_bucket *b = pawl_bucket_lock(m);
    if (state(w) == PAWL_AWAKE) {
        if (h->slept && losses(m) < LOSSES_MOST)
            set_losses(m, losses(m) + 1);
        uint32_t now = pawl_ticks(), pause = (1u << losses(m)) - 1;
        left = (uint64_t)pawl_mutex_left(m, now) << 10;
        m->attend = (uint16_t)(now + pause + LATE);
        /* With a hint, a release may leave it asleep, and another need not come. */
        uint32_t most = losses(m) > 0 ? pause : w->slot != 0 ? LATE : UINT32_MAX;
        if (left > (uint64_t)most << 10)
            left = (uint64_t)most << 10;
        uint32_t asked = atomic_load_explicit(&m->patience, memory_order_relaxed) & PAWL_M_ASKED;
        atomic_store_explicit(&m->patience, asked | (losses(m) == 0 ? 0 : m->step), memory_order_relaxed);
        atomic_store_explicit(&w->state, PAWL_WATCHING, memory_order_relaxed);
        pawl_mutex_set_bits(m, PAWL_M_LIES_DOWN, pawl_mutex_bits(m) & ~(uint32_t)PAWL_M_AWAKE);
    }
    pawl_bucket_unlock(b);
    h->slept = true;
    if (!h->asked)
        return left;
    h->nap = h->nap == 0 ? NAP : h->nap < NAP_MOST ? 2 * h->nap : h->nap;
    return h->nap;
}

/* Gives a release that was under way when this thread lay down the time to store `held`. True if the mutex is ours. */
static bool watch(pawl_mutex *m, pawl_sleeper *w)
{
    if (take(m, w->slot) || spin(m, w, PAWL_WATCHING, w->slot, PAWL_MUTEX_SPIN_WATCH)) {
        depart(m, w);
        return true;
    }
    uint32_t watching = PAWL_WATCHING;
    atomic_compare_exchange_strong_explicit(&w->state, &watching, PAWL_ASLEEP, memory_order_relaxed,
                                            memory_order_relaxed);
    return false;
}

static void get_up(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    if (state(w) == PAWL_ASLEEP)
        pawl_mutex_rouse(m, w);
    pawl_bucket_unlock(b);
}

/* Sleeps that long, or until the deadline if it comes first. By CLOCK_MONOTONIC alone: the other clock may be set
 * back. */
static int sleep_for(pawl_sleeper *w, uint64_t nanoseconds, int clock, const struct timespec *deadline)
{
    int64_t left = deadline != NULL ? pawl_left(clock, deadline) : INT64_MAX;
    if (left <= 0)
        return ETIMEDOUT; /* even if it is woken again and again */
    if (state(w) != PAWL_ASLEEP)
        return 0;
    struct timespec then =
        pawl_from_now(CLOCK_MONOTONIC, left < (int64_t)nanoseconds ? (long)left : (long)nanoseconds);
    pawl_futex_wait(&w->state, PAWL_ASLEEP, CLOCK_MONOTONIC, &then);
    return 0;
}

/* ---- in the queue */

/* After a timeout. False if it was handed the mutex just before. */
static bool leave(pawl_mutex *m, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_sleeper *asleep = NULL;
    bool left = state(w) != PAWL_OWNER;
    if (left) {
        bool first = pawl_queue_first(b, m) == w;
        pawl_mutex_dequeue(b, m, w);
        if (first && w->next != NULL)
            asleep = pawl_mutex_rouse(m, w->next);
    }
    pawl_mutex_let_go(b, asleep);
    return left;
}

int pawl_mutex_wait(pawl_mutex *m, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    int result = 0;
    head h = {.slept = state(w) == PAWL_ASLEEP, .timed = deadline != NULL};
    while (state(w) == PAWL_ASLEEP && result == 0)
        result = pawl_futex_wait(&w->state, PAWL_ASLEEP, clock, deadline);
    for (; result == 0 && !is_owner(w); get_up(m, w)) {
        if (compete(m, w, &h))
            return 0;
        uint64_t time = lie_down(m, w, &h);
        if (state(w) == PAWL_WATCHING && watch(m, w))
            return 0;
        result = sleep_for(w, time, clock, deadline);
    }
    if (result != 0 && leave(m, w))
        return result;
    return 0;
}

/* ---- arriving */

static bool try(void *mutex)
{
    return pawl_mutex_trylock(mutex);
}

/* Keeps its CPU awake, as long as nobody else wants it: nothing bounds its wait until it queues up. Not where heads lose,
 * as above. */
static bool yield_first(pawl_mutex *m, uint32_t slot)
{
    bool alone = losses(m) == 0 && !is_vain(m);
    for (int i = 0; i < PAWL_MUTEX_YIELDS && alone; i++) {
        alone = pawl_yield_alone();
        if (looks_free(m) && take(m, slot)) {
            pawl_mutex_competes(pawl_ticks()); /* until now */
            return true;
        }
    }
    return false;
}

static int queue_up(pawl_mutex *m, bool rare, int clock, const struct timespec *deadline)
{
    if (PAWL_UNLIKELY(pawl_is_reentry(m)))
        return pawl_reentry_poll(try, m, clock, deadline);
    pawl_hint_slept();
    if (deadline == NULL) /* it may take some milliseconds */
        pawl_hint_join();
    pawl_sleeper w;
    w.slot = pawl_hint_slot();
    atomic_store_explicit(&w.state, PAWL_ASLEEP, memory_order_relaxed);
    pawl_bucket *b = pawl_bucket_lock(m);
    if (rare)
        pawl_mutex_enqueue_rare(b, m, &w);
    else
        pawl_mutex_enqueue(b, m, &w);
    if (pawl_queue_first(b, m) == &w)
        pawl_mutex_rouse(m, &w);
    pawl_bucket_unlock(b);
    int result = pawl_mutex_wait(m, &w, clock, deadline);
    pawl_mutex_competes(pawl_ticks()); /* until now: a long wait does not make it rare */
    return result;
}

static int lock_until(pawl_mutex *m, int clock, const struct timespec *deadline)
{
    uint32_t now = pawl_ticks(); /* before the first look, which comes later in any case */
    bool rare = pawl_mutex_competes(now);
    pawl_hint_begin();
    uint32_t slot = pawl_hint_slot();
    int result = spin(m, NULL, 0, slot, PAWL_MUTEX_SPIN_FIRST) || yield_first(m, slot)
                     ? 0
                     : queue_up(m, rare, clock, deadline);
    if (result == 0 && pawl_mutex_bits(m) != 0 && pawl_timeslice_ask())
        atomic_fetch_or_explicit(&m->patience, PAWL_M_ASKED, memory_order_relaxed);
    return result;
}

void pawl_mutex_lock_contended(pawl_mutex *m)
{
    lock_until(m, CLOCK_MONOTONIC, NULL);
}

int pawl_mutex_lock_until(pawl_mutex *m, int clock, const struct timespec *deadline)
{
    int error = pawl_deadline_check(clock, deadline);
    return error != 0 ? error : lock_until(m, clock, deadline);
}
