/* mutex.c - pawl_mutex: releasing it, and whose turn it is */
#include "fork.h"
#include "mutex.h"
#include "nested.h"
#include "sleep.h"

#include <pawl/thread.h>

/* In units of 1024 ns: how long a round takes, in which everybody who waits is served, and how long barging
 * goes on between two of its hand-overs at least. A hand-over is a wake-up: 5 to 30 us in which nothing else
 * happens. 0 for the round: no clock is read. */
#ifndef PAWL_MUTEX_ROUND
#define PAWL_MUTEX_ROUND 4000u
#endif
#ifndef PAWL_MUTEX_SHARE
#define PAWL_MUTEX_SHARE 256u
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
    atomic_store_explicit(&pawl_mutex_dormant[pawl_mutex_slot(m)], shown, memory_order_relaxed);
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
    set_bits(m, w->next == NULL ? 0 : bits(m) & ~(uint32_t)PAWL_M_AWAKE);
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

void pawl_mutex_forget_rounds(pawl_mutex *m)
{
    m->passed = 0;
    m->look = 0;
    m->share = 0;
    m->step = 0;
}

/* One more release while somebody waits. True if the first waiter is due. */
static bool is_due(pawl_mutex *m)
{
    uint32_t passed = ++m->passed;
    if (PAWL_LIKELY(passed < m->look))
        return false;
    if (passed >= BUDGET)
        return true;
    if (PAWL_MUTEX_ROUND == 0)
        return false;
    uint32_t now = pawl_ticks();
    if (m->share == 0) { /* nobody was waiting before */
        m->share = PAWL_MUTEX_ROUND;
        m->since = now;
    }
    if (now - m->since >= m->share)
        return true;
    m->step = m->step == 0 ? 1 : m->step < LOOK_MOST ? m->step * 2 : LOOK_MOST;
    m->look = BUDGET - passed < m->step ? BUDGET : passed + m->step;
    return false;
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

static void start_share(pawl_mutex *m)
{
    m->look = 0;
    m->step = 0;
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
    if (first->turn == (bits(m) & PAWL_M_TURN))
        start_round(m, first);
    pawl_mutex_dequeue(b, m, first);
    if (bits(m) == 0)
        pawl_mutex_forget_rounds(m);
    else
        start_share(m);
    /* B: publishes the critical section */
    uint32_t was = atomic_exchange_explicit(&first->state, PAWL_OWNER, memory_order_release);
    let_go(b, was == PAWL_ASLEEP ? first : NULL);
}

static void release_and_wake(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *first)
{
    bool awake = first == NULL || (bits(m) & PAWL_M_AWAKE);
    pawl_sleeper *asleep = awake ? NULL : pawl_mutex_rouse(b, m, first);
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
    bool due = is_due(m);
    if (PAWL_LIKELY(!due && (bits(m) & PAWL_M_AWAKE))) {
        pawl_mutex_release(m);
        return;
    }
    pawl_bucket *b = pawl_bucket_lock(m);
    pawl_sleeper *first = pawl_queue_first(b, m);
    if (due && first != NULL)
        hand_over(b, m, first);
    else
        release_and_wake(b, m, first);
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
