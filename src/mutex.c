/* mutex.c - pawl_mutex: releasing it, and whose turn it is */
#include "fork.h"
#include "mutex.h"
#include "nested.h"
#include "park/futex.h"

#include <pawl/thread.h>

/* In units of 1024 ns; 0 for the round: no clock is read.
 *
 *   ROUND   in which everybody who waits is served; it is divided into shares
 *   SHARE   how long barging goes on between two who are served, at least. Then the first waiter is called
 *   GRACE   how long it may take to come. Then it is handed the mutex where it is: nobody has it until it wakes up, and
 *           all who run come to wait, too
 *   HELP    how often another waiter is woken, because the one that competes may be waiting for a CPU while
 *           another CPU is idle
 */
#ifndef PAWL_MUTEX_ROUND
#define PAWL_MUTEX_ROUND 4000u
#endif
#ifndef PAWL_MUTEX_SHARE
#define PAWL_MUTEX_SHARE 256u
#endif
#ifndef PAWL_MUTEX_GRACE
#define PAWL_MUTEX_GRACE 256u
#endif
#ifndef PAWL_MUTEX_HELP
#define PAWL_MUTEX_HELP 128u
#endif

/* Releases in a round, after which the rest of it are hand-overs. A waiter may see all of the round in which
 * it came, and of its own what comes before its turn. */
#define BUDGET (PAWL_MUTEX_BYPASS / 2)

#define LOOK_MOST 64 /* releases between two looks at the clock */

pawl_word pawl_mutex_dormant[1 << PAWL_MUTEX_BITS] __attribute__((aligned(4096)));

/* ---- the queue, under the bucket's lock */

static uint32_t bits(const pawl_mutex *m)
{
    return atomic_load_explicit(&m->queue, memory_order_relaxed);
}

static void set_bits(pawl_mutex *m, uint32_t to)
{
    atomic_store_explicit(&m->queue, to, memory_order_relaxed);
}

_Static_assert(PAWL_MUTEX_BITS == PAWL_BUCKET_BITS,
               "all queues of a bucket, and no others, are shown in one slot");

/* Shows in pawl_mutex_dormant which queues of the bucket rely on it. */
void pawl_mutex_set_dormant(pawl_bucket *b, const void *m, bool dormant)
{
    pawl_sleeper *first = pawl_queue_first(b, m);
    if (first != NULL)
        first->dormant = dormant;
    uint64_t shown = 0;
    for (const pawl_sleeper *w = b->queues; w != NULL; w = w->other)
        if (w->dormant)
            shown = shown == 0 ? atomic_load_explicit(&w->key, memory_order_relaxed) : 1;
    pawl_word *slot = &pawl_mutex_dormant[pawl_mutex_slot(m)];
    if (atomic_load_explicit(slot, memory_order_relaxed) !=
        shown) /* a store takes the line from every unlock */
        atomic_store_explicit(slot, shown, memory_order_relaxed);
}

void pawl_mutex_enqueue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    w->turn = bits(m) & PAWL_M_TURN;
    pawl_queue_append(b, m, w);
    set_bits(m, bits(m) | PAWL_M_WAITERS);
}

/* If it was the first, the next one sleeps, and whoever calls this sees that it is woken: as the owner when
 * it releases, or else at once. */
void pawl_mutex_dequeue(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    bool first = pawl_queue_first(b, m) == w;
    pawl_queue_remove(b, w);
    if (!first)
        return;
    set_bits(m, w->next == NULL ? 0 : bits(m) & (PAWL_M_WAITERS | PAWL_M_TURN));
    pawl_mutex_set_dormant(b, m, false);
}

pawl_sleeper *pawl_mutex_rouse(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first)
{
    set_bits(m, bits(m) | PAWL_M_AWAKE);
    pawl_mutex_set_dormant(b, m, false);
    uint32_t was = atomic_exchange_explicit(&first->state, PAWL_AWAKE, memory_order_relaxed);
    return was == PAWL_ASLEEP ? first : NULL;
}

/* ---- rounds, by the owner */

static void forget_rounds(pawl_mutex *m)
{
    m->passed = 0;
    m->look = 0;
    m->share = 0;
    m->step = 0;
    m->asked = 0;
}

/* What a release has to do besides: nothing, ask a waiter to help, call the first, or hand over to it. */
typedef enum due { NOTHING, ASK, CALL, HAND_OVER } due;

static due due_by_clock(pawl_mutex *m)
{
    uint32_t now = pawl_ticks();
    if (m->share == 0) { /* nobody was waiting before */
        m->share = PAWL_MUTEX_ROUND;
        m->since = now;
    }
    uint32_t since = now - m->since;
    if (since >= m->share)
        return since - m->share < PAWL_MUTEX_GRACE ? CALL : HAND_OVER;
    if (since < (m->asked + 1) * PAWL_MUTEX_HELP)
        return NOTHING;
    m->asked++;
    return ASK;
}

/* One more release while somebody waits. */
static due count_release(pawl_mutex *m)
{
    uint32_t passed = ++m->passed;
    if (PAWL_LIKELY(passed < m->look))
        return NOTHING;
    if (passed >= BUDGET)
        return HAND_OVER;
    if (PAWL_MUTEX_ROUND == 0)
        return passed % 3 == 1 ? CALL : passed % 3 == 2 ? ASK : NOTHING;
    m->step = m->step == 0 ? 1 : m->step < LOOK_MOST ? m->step * 2 : LOOK_MOST;
    m->look = BUDGET - passed < m->step ? BUDGET : passed + m->step;
    return due_by_clock(m);
}

/* All who waited at the start of the last round have been served. The next round is for those that wait now.
 */
static void start_round(pawl_mutex *m, const pawl_sleeper *first)
{
    set_bits(m, bits(m) ^ PAWL_M_TURN);
    m->passed = 0;
    uint32_t share = PAWL_MUTEX_ROUND / first->length;
    m->share = (uint16_t)(share > PAWL_MUTEX_SHARE ? share : PAWL_MUTEX_SHARE);
}

void pawl_mutex_serve(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first)
{
    if (first->turn == (bits(m) & PAWL_M_TURN))
        start_round(m, first);
    pawl_mutex_dequeue(b, m, first);
    if (bits(m) == 0) {
        forget_rounds(m);
        return;
    }
    m->look = 0;
    m->step = 0;
    m->asked = 0;
    if (PAWL_MUTEX_ROUND != 0)
        m->since = pawl_ticks();
}

/* ---- releasing while somebody waits */

static void let_go(pawl_bucket *b, pawl_sleeper *asleep)
{
    pawl_bucket_unlock(b);
    if (asleep != NULL)
        pawl_futex_wake(&asleep->state);
}

static void hand_over(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first)
{
    pawl_mutex_serve(b, m, first);
    /* B: publishes the critical section */
    uint32_t was = atomic_exchange_explicit(&first->state, PAWL_OWNER, memory_order_release);
    let_go(b, was == PAWL_ASLEEP ? first : NULL);
}

static pawl_sleeper *ask_for_help(pawl_sleeper *first)
{
    pawl_sleeper *w = first->next;
    while (w != NULL && atomic_load_explicit(&w->state, memory_order_relaxed) != PAWL_ASLEEP)
        w = w->next;
    if (w != NULL)
        atomic_store_explicit(&w->state, PAWL_HELPER, memory_order_relaxed);
    return w;
}

/* Returns whom to wake. */
static pawl_sleeper *attend(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first, due due)
{
    if (due == CALL)
        set_bits(m, bits(m) | PAWL_M_CALLED);
    if (!(bits(m) & PAWL_M_AWAKE))
        return pawl_mutex_rouse(b, m, first);
    return due == ASK ? ask_for_help(first) : NULL;
}

/* If nobody is in the queue, all have given up, or this is a child of fork() and they are in the parent. */
static void release_and_wake(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first, due due)
{
    pawl_sleeper *asleep = NULL;
    if (first != NULL)
        asleep = attend(b, m, first, due);
    else
        set_bits(m, 0);
    atomic_store_explicit(&m->held, 0, memory_order_release); /* A */
    let_go(b, asleep);
}

static void rouse_first(void *mutex)
{
    pawl_bucket *b = pawl_bucket_lock(mutex);
    pawl_sleeper *first = pawl_queue_first(b, mutex);
    let_go(b, first != NULL ? pawl_mutex_rouse(b, mutex, first) : NULL);
}

static void wake_later(void *mutex)
{
    pawl_mutex_wake_dormant(mutex);
}

void pawl_mutex_unlock_contended(pawl_mutex *m)
{
    if (PAWL_UNLIKELY(pawl_nested_in(m))) {
        pawl_mutex_release(m);
        pawl_nested_later(rouse_first, m);
        return;
    }
    due due = count_release(m);
    if (PAWL_LIKELY(due == NOTHING && (bits(m) & (PAWL_M_AWAKE | PAWL_M_HERE)) == PAWL_M_AWAKE)) {
        pawl_mutex_release(m);
        return;
    }
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_sleeper *first = pawl_queue_first(b, m);
    if (first != NULL && (due == HAND_OVER || (bits(m) & PAWL_M_HERE)))
        hand_over(b, m, first);
    else
        release_and_wake(b, m, first, due);
}

/* Somebody went to sleep in the instant in which this thread released. The mutex exists if a waiter is in its
 * queue, and not otherwise. */
void pawl_mutex_wake_dormant(const void *m)
{
    uint64_t shown = atomic_load_explicit(&pawl_mutex_dormant[pawl_mutex_slot(m)], memory_order_relaxed);
    if (shown != pawl_address(m) && shown != 1)
        return;
    if (PAWL_UNLIKELY(pawl_nested_in(m))) {
        pawl_nested_later(wake_later, (void *)(uintptr_t)m);
        return;
    }
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_sleeper *first = pawl_queue_first(b, m), *asleep = NULL;
    if (first != NULL && first->dormant)
        asleep = pawl_mutex_rouse(b, (pawl_mutex *)(uintptr_t)m, first);
    let_go(b, asleep);
}

void pawl_fork_mutex(void)
{
    for (int i = 0; i < 1 << PAWL_MUTEX_BITS; i++)
        if (atomic_load_explicit(&pawl_mutex_dormant[i], memory_order_relaxed) != 0)
            atomic_store_explicit(&pawl_mutex_dormant[i], 0, memory_order_relaxed);
}
