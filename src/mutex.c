/* mutex.c - pawl_mutex: its queue, and releasing it while somebody waits */
#include "invariant.h"
#include "mutex.h"
#include "reentry.h"
#include "park/futex.h"
#include "park/hint.h"
#include "park/timeslice.h"
#include "park/yield.h"

/* Nanoseconds
 *
 *   The share is how long others may barge past the head of the queue:
 *   ROUND   divided by the number of waiters, but no less than SHARE, where releases are half of LOOK apart or more;
 *   SHARE   where they are closer, and
 *   SHORT   where 16 of them fit into LOOK. How long a thread waits then depends on those before it alone
 *   GRACE   how long after its share the head may take to run. Meanwhile owners give way: they yield their CPU after a
 *           release. Afterwards they hand off to a head that does not run, and everybody waits for the scheduler
 *   LOOK    about how often an owner reads the clock, and gives way
 *   RARE    a thread that has not competed for that long goes first, but not before those that have waited for
 *   LONG */
#ifndef PAWL_MUTEX_ROUND
#define PAWL_MUTEX_ROUND 4000000u
#endif
#ifndef PAWL_MUTEX_SHARE
#define PAWL_MUTEX_SHARE 150000u
#endif
#ifndef PAWL_MUTEX_SHORT
#define PAWL_MUTEX_SHORT 20000u
#endif
#ifndef PAWL_MUTEX_GRACE
#define PAWL_MUTEX_GRACE 1000000u
#endif
#ifndef PAWL_MUTEX_LOOK
#define PAWL_MUTEX_LOOK 10000u
#endif
#ifndef PAWL_MUTEX_RARE
#define PAWL_MUTEX_RARE 50000u
#endif
#ifndef PAWL_MUTEX_LONG
#define PAWL_MUTEX_LONG 16000000u
#endif
#define OVERTAKES  128 /* by one thread that goes first, at most     */
#define STEP_MOST  255 /* releases between two readings of the clock */
#define STEP_LONG  1   /* if so many, or fewer: they are far apart   */
#define STEP_SHORT 31  /* if so many, or more: they are close        */
#define SKIPS_MOST 8   /* releases in a row that do not look at the clock because the bucket is taken */

/* ---- the queue, under the bucket's lock */

/* Whether the table in <pawl/mutex.h> allows this change. */
static inline bool is_in_table(pawl_mutex_event event, uint32_t from, uint32_t to)
{
    enum { W = PAWL_M_WAITERS, TIMED = W | PAWL_M_TIMED, AWAKE = TIMED | PAWL_M_AWAKE };
    uint32_t asked = from & PAWL_M_HANDOFF, state = from & ~asked;
    if (asked != 0 && state != TIMED && state != AWAKE)
        return false;
    switch (event) {
    case PAWL_M_ARRIVES:
        return from == 0 && to == W;
    case PAWL_M_ROUSED:
        return (state == W || state == TIMED || state == AWAKE) && to == (AWAKE | asked);
    case PAWL_M_LIES_DOWN:
        return state == AWAKE && to == (TIMED | asked);
    case PAWL_M_ASKS:
        return state == AWAKE && to == (AWAKE | PAWL_M_HANDOFF);
    case PAWL_M_GOES:
        return state != 0 && (to == 0 || to == W);
    default: /* PAWL_M_NOBODY; the lab does not fork */
        return from == 0 && to == 0;
    }
}

void pawl_mutex_set_bits(pawl_mutex *m, pawl_mutex_event why, uint32_t to)
{
    PAWL_INVARIANT(is_in_table(why, pawl_mutex_bits(m), to), "the mutex keeps to its table");
    atomic_store_explicit(&m->queue, to, memory_order_relaxed);
}

static void append(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    pawl_queue_append(b, m, w);
    if (w->before == NULL) /* in a child of fork(), the bits may be left over from the parent */
        pawl_mutex_set_bits(m, PAWL_M_ARRIVES, PAWL_M_WAITERS);
}

void pawl_mutex_enqueue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    w->rank = pawl_ticks() + PAWL_TICKS(PAWL_MUTEX_LONG);
    append(b, m, w);
}

/* Not before the head, which the bits are about. */
void pawl_mutex_enqueue_rare(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    pawl_sleeper *first = pawl_queue_first(b, m), *at = first != NULL ? first->last : NULL;
    w->rank = pawl_ticks();
    for (int i = 0; i < OVERTAKES && at != first && (int32_t)(at->rank - w->rank) > 0; i++)
        at = at->before;
    if (at != NULL)
        pawl_queue_insert(b, at, w);
    else
        append(b, m, w);
}

/* When this thread last came to a contended mutex, or kept others waiting at one, in ticks; 0 if never. */
static __thread uint32_t competed __attribute__((tls_model("initial-exec")));

bool pawl_mutex_competes(uint32_t now)
{
    bool rare = competed != 0 && now - competed > PAWL_TICKS(PAWL_MUTEX_RARE);
    competed = now;
    return rare;
}

/* A new head sleeps without a timer, so the caller must make sure that it is woken: as the owner by its release, else
 * at once. Until then `patience` stays 0. */
void pawl_mutex_dequeue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    bool head = pawl_queue_first(b, m) == w;
    pawl_queue_remove(b, w);
    if (!head)
        return;
    pawl_mutex_set_bits(m, PAWL_M_GOES, w->next == NULL ? 0 : PAWL_M_WAITERS);
    atomic_store_explicit(&m->patience, 0, memory_order_relaxed);
}

static uint32_t longer(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t share(const pawl_mutex *m, const pawl_sleeper *head)
{
    if (m->step > STEP_LONG)
        return m->step >= STEP_SHORT ? PAWL_MUTEX_SHORT : PAWL_MUTEX_SHARE;
    /* A child of fork() may have lost count. */
    return longer(PAWL_MUTEX_ROUND / longer(head->length, 1), PAWL_MUTEX_SHARE);
}

/* No more than a share can be left: else the clock has wrapped since, as it does in 73 minutes. */
uint32_t pawl_mutex_left(const pawl_mutex *m, uint32_t now)
{
    uint32_t left = m->due - now,
             most = PAWL_TICKS(longer(PAWL_MUTEX_ROUND, longer(PAWL_MUTEX_SHARE, PAWL_MUTEX_SHORT)));
    return left <= most ? left : 0;
}

pawl_sleeper *pawl_mutex_rouse(pawl_mutex *m, pawl_sleeper *head)
{
    if (!(pawl_mutex_bits(m) & PAWL_M_TIMED)) {
        uint32_t now = pawl_ticks();
        m->due = now + PAWL_TICKS(share(m, head));
        m->attend = (uint16_t)now;
    }
    pawl_mutex_set_bits(m, PAWL_M_ROUSED, pawl_mutex_bits(m) | PAWL_M_AWAKE | PAWL_M_TIMED);
    uint32_t was = atomic_exchange_explicit(&head->state, PAWL_AWAKE, memory_order_relaxed);
    PAWL_INVARIANT(was != PAWL_OWNER, "nobody rouses an owner");
    return was == PAWL_ASLEEP ? head : NULL;
}

void pawl_mutex_let_go(pawl_bucket *b, pawl_sleeper *asleep)
{
    pawl_bucket_unlock(b);
    if (asleep != NULL)
        pawl_futex_wake(&asleep->state);
}

/* ---- releasing while somebody waits */

static void release(pawl_mutex *m)
{
    atomic_store_explicit(&m->held, 0, memory_order_release); /* A */
}

/* What else a release does. */
typedef enum deed { NOTHING, ROUSE, GIVE_WAY, HAND_OFF } deed;

/* How many releases the next look is away. When critical sections are long, every release looks. */
static uint8_t next_step(const pawl_mutex *m, uint32_t now)
{
    uint32_t late = (uint16_t)(now - m->looked);
    if (late > 4 * PAWL_TICKS(PAWL_MUTEX_LOOK))
        return 0;
    if (late > PAWL_TICKS(PAWL_MUTEX_LOOK))
        return m->step / 2;
    return m->step < STEP_MOST ? (uint8_t)(2 * m->step + 1) : m->step;
}

/* Decides by the clock. A share that began when sections looked longer ends earlier. */
static deed due(pawl_mutex *m, const pawl_sleeper *head, uint32_t now)
{
    m->step = next_step(m, now);
    m->looked = (uint16_t)now;
    uint32_t most = PAWL_TICKS(share(m, head));
    if (pawl_mutex_left(m, now) > most) {
        m->due = now + most;
        if ((int16_t)(m->attend - (uint16_t)m->due) > 0) /* the head may sleep, with a timer for later */
            m->attend = (uint16_t)m->due;
    }
    atomic_store_explicit(&m->patience, m->step, memory_order_relaxed);
    if (pawl_mutex_left(m, now) == 0 && now - m->due >= PAWL_TICKS(PAWL_MUTEX_GRACE))
        return HAND_OFF;
    bool may = (int16_t)((uint16_t)now - m->attend) >= 0;
    if (!(pawl_mutex_bits(m) & PAWL_M_AWAKE)) {
        /* After a loss its timer wakes it, at no cost to owners, if not late; so it does if others want its CPU. */
        bool calls =
            atomic_load_explicit(&m->losses, memory_order_relaxed) == 0 && !pawl_hint_is_crowded(head->slot);
        return may || calls ? ROUSE : NOTHING;
    }
    if (pawl_mutex_left(m, now) > 0 || !may)
        return NOTHING;
    m->attend = (uint16_t)(now + PAWL_TICKS(PAWL_MUTEX_LOOK));
    return GIVE_WAY; /* the head was woken and does not run, or it would have asked */
}

/* A request came within the section: if that was long ago, sections are longer than was known. Where heads ask within every
 * section, no release looks. */
static void learn_from_request(pawl_mutex *m, uint32_t now)
{
    uint8_t step = next_step(m, now);
    if (step < m->step)
        m->step = step;
}

static deed judge(pawl_mutex *m, const pawl_sleeper *head, uint32_t now)
{
    uint32_t bits = pawl_mutex_bits(m);
    if (bits & PAWL_M_HANDOFF) {
        learn_from_request(m, now);
        return HAND_OFF;
    }
    return bits & PAWL_M_TIMED ? due(m, head, now) : ROUSE;
}

/* A head that has asked spins, or sleeps with a timer: it comes even if this thread loses its CPU before it wakes it.
 * A head that has not asked may depend on a wake-up that somebody owes it, which may be as late: so it is woken in
 * any case. */
static void hand_off(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *head)
{
    bool asked = (pawl_mutex_bits(m) & PAWL_M_HANDOFF) != 0;
    pawl_mutex_dequeue(b, m, head);
    if (atomic_load_explicit(&m->held, memory_order_relaxed) != PAWL_M_HELD_BY(head->slot))
        atomic_store_explicit(&m->held, PAWL_M_HELD_BY(head->slot), memory_order_relaxed);
    /* B: publishes the critical section */
    uint32_t was = atomic_exchange_explicit(&head->state, PAWL_OWNER, memory_order_release);
    PAWL_INVARIANT(was != PAWL_OWNER, "a waiter is handed the mutex once");
    pawl_mutex_let_go(b, was == PAWL_ASLEEP || !asked ? head : NULL);
}

static void rouse_head(void *mutex)
{
    pawl_bucket *b = pawl_bucket_lock(mutex);
    pawl_sleeper *head = pawl_queue_first(b, mutex);
    pawl_mutex_let_go(b, head != NULL ? pawl_mutex_rouse(mutex, head) : NULL);
}

static void unlock(pawl_mutex *m, uint32_t queue, bool fair)
{
    if (PAWL_UNLIKELY(pawl_is_reentry(m))) {
        release(m);
        pawl_reentry_defer(rouse_head, m);
        return;
    }
    /* If the head is up, nobody has to be woken: then the owner does not wait with the mutex in its hands until others
     * have queued up, and one of the next releases looks at the clock. */
    bool may_skip =
        !fair && (queue & (PAWL_M_AWAKE | PAWL_M_HANDOFF)) == PAWL_M_AWAKE && m->skips < SKIPS_MOST;
    pawl_bucket *b = may_skip ? pawl_bucket_trylock(m) : pawl_bucket_lock(m);
    if (PAWL_UNLIKELY(b == NULL)) {
        m->skips++;
        release(m);
        return;
    }
    m->skips = 0;
    pawl_sleeper *head = pawl_queue_first(b, m);
    if (head == NULL) /* all have given up, or this is a child of fork() and they are in the parent */
        pawl_mutex_set_bits(m, PAWL_M_NOBODY, 0);
    uint32_t now = pawl_ticks();
    pawl_mutex_competes(now);
    deed next = head == NULL ? NOTHING : fair ? HAND_OFF : judge(m, head, now);
    if (next == HAND_OFF) {
        hand_off(b, m, head);
        return;
    }
    pawl_sleeper *asleep = next == ROUSE ? pawl_mutex_rouse(m, head) : NULL;
    release(m);
    pawl_mutex_let_go(b, asleep);
    if (next == GIVE_WAY) {
        pawl_yield_once();
        pawl_mutex_competes(pawl_ticks()); /* until now: to give way does not make it rare */
    }
}

void pawl_mutex_unlock_contended(pawl_mutex *m)
{
    uint32_t queue = pawl_mutex_bits(m), patience = atomic_load_explicit(&m->patience, memory_order_relaxed);
    if (patience & PAWL_M_ASKED)
        atomic_store_explicit(&m->patience, patience & ~PAWL_M_ASKED, memory_order_relaxed);
    if (pawl_mutex_is_patient(m, queue))
        release(m);
    else
        unlock(m, queue, false);
    pawl_timeslice_return();
}

void pawl_mutex_unlock_fair_contended(pawl_mutex *m)
{
    unlock(m, pawl_mutex_bits(m), true);
    pawl_timeslice_return();
}
