/* cond.c - pawl_cond: waiting and signalling */
#include "cond.h"
#include "debug.h"
#include "mutex.h"
#include "reentry.h"
#include "park/futex.h"
#include "park/hint.h"
#include "park/queue.h"
#include "park/yield.h"

#include <pawl/detail/thread.h>

#include <errno.h>

enum {
    WAITING = PAWL_COND_WAITING,
    LOOKING = PAWL_COND_LOOKING,
    CALLED = PAWL_COND_CALLED,
    GO = PAWL_COND_GO
};

_Static_assert((int)WAITING == (int)PAWL_ASLEEP && (int)LOOKING > (int)PAWL_OWNER,
               "a thread that waits for a signal sleeps; the mutex's states are others");

#ifndef PAWL_COND_YIELDS
#define PAWL_COND_YIELDS 8 /* before sleeping */
#endif

/* ---- the queue, under the bucket's lock */

/* G: a thread that sees no waiters, and destroys the condition variable, comes after the last one that left. */
static void count(pawl_bucket *b, pawl_cond *c)
{
    const pawl_sleeper *first = pawl_queue_first(b, c);
    atomic_store_explicit(&c->waiters, first != NULL ? first->length : 0, memory_order_release); /* G */
}

void pawl_cond_enqueue(pawl_cond *c, pawl_sleeper *w, pawl_mutex *mutex)
{
    atomic_store_explicit(&w->state, LOOKING, memory_order_relaxed);
    w->mutex = mutex;
    pawl_bucket *b = pawl_bucket_lock(c);
    pawl_queue_append(b, c, w);
    count(b, c);
    pawl_bucket_unlock(b);
}

/* A waiter's key names the queue it is in, until a signal takes it out. From then on the condition variable may be
 * gone, so this does not touch it. */
bool pawl_cond_is_in_queue(const pawl_cond *c, const pawl_sleeper *w)
{
    return atomic_load_explicit(&w->key, memory_order_relaxed) == pawl_address(c);
}

/* After a timeout. False if it was signalled just before. */
bool pawl_cond_withdraw(pawl_cond *c, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(c);
    bool waited = pawl_cond_is_in_queue(c, w);
    if (waited) {
        pawl_queue_remove(b, w);
        count(b, c);
        w->next = NULL; /* nobody to pass a broadcast on to */
    }
    pawl_bucket_unlock(b);
    return waited;
}

/* ---- signalling */

/* Tells those that look, and returns the list of the others. */
static pawl_sleeper *tell_lookers(pawl_sleeper *list)
{
    for (pawl_sleeper **at = &list, *w; (w = *at) != NULL;) {
        if (atomic_load_explicit(&w->state, memory_order_relaxed) != LOOKING) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = NULL;
        atomic_store_explicit(&w->state, GO, memory_order_release); /* F */
    }
    return list;
}

/* Takes the first waiter, or all of them, out of the queue. Returns those that sleep: nobody else finds them now, and
 * they cannot leave before they are told to. */
static pawl_sleeper *call(pawl_cond *c, bool all)
{
    pawl_bucket *b = pawl_bucket_lock(c);
    pawl_sleeper *first = pawl_queue_first(b, c);
    if (first != NULL) {
        if (all) {
            pawl_queue_detach(b, c);
        } else {
            pawl_queue_remove(b, first);
            first->next = NULL;
        }
        count(b, c);
    }
    for (pawl_sleeper *w = first; w != NULL; w = w->next)
        atomic_store_explicit(&w->key, 0, memory_order_relaxed);
    first = tell_lookers(first);
    for (pawl_sleeper *w = first; w != NULL; w = w->next)
        if (w->mutex == NULL)
            atomic_store_explicit(&w->state, CALLED, memory_order_relaxed);
    pawl_bucket_unlock(b);
    return first;
}

static void transfer_later(void *list);

/* Requeues the waiters to the mutex without waking them. If the mutex has a queue, somebody is looking after its
 * head. If not, the first of them becomes the head, and must be up. */
static void transfer(pawl_sleeper *first, uint8_t forks)
{
    pawl_sleeper *asleep = NULL;
    pawl_mutex *m = first->mutex;
    if (PAWL_UNLIKELY(pawl_is_reentry(m))) {
        pawl_reentry_defer(transfer_later, first);
        return;
    }
    pawl_bucket *b = pawl_bucket_lock(m);
    if (PAWL_UNLIKELY(pawl_reentry_forks() != forks)) {
        pawl_bucket_unlock(b);
        return;
    }
    for (pawl_sleeper *w = first, *next; w != NULL; w = next) {
        next = w->next;
        pawl_mutex_enqueue(b, m, w);
    }
    if (pawl_queue_first(b, m) == first)
        asleep = pawl_mutex_rouse(m, first);
    pawl_mutex_let_go(b, asleep);
}

static void transfer_later(void *list)
{
    transfer(list, pawl_reentry_forks());
}

static void tell(pawl_sleeper *w)
{
    atomic_store_explicit(&w->state, GO, memory_order_release); /* F: publishes `next` */
    pawl_futex_wake(&w->state);
}

/* Cuts the list after the leading waiters of one mutex, and returns the rest. Concurrent waiters should use the same
 * lock; with glibc they need not, and there are programs that rely on it. */
static pawl_sleeper *cut(pawl_sleeper *first)
{
    pawl_sleeper *last = first;
    while (last->next != NULL && last->next->mutex == first->mutex)
        last = last->next;
    pawl_sleeper *rest = last->next;
    last->next = NULL;
    return rest;
}

static void signal_later(void *cond)
{
    pawl_cond_signal_waiters(cond, false);
}

static void broadcast_later(void *cond)
{
    pawl_cond_signal_waiters(cond, true);
}

void pawl_cond_signal_waiters(pawl_cond *c, bool all)
{
    if (PAWL_UNLIKELY(pawl_is_reentry(c))) {
        pawl_reentry_defer(all ? broadcast_later : signal_later, c);
        return;
    }
    /* If a handler forks, its thread goes on here in the child, and the waiters are the parent's. */
    uint8_t forks = pawl_reentry_forks();
    for (pawl_sleeper *w = call(c, all), *rest; w != NULL && pawl_reentry_forks() == forks; w = rest) {
        rest = cut(w); /* before any of them may return */
        if (w->mutex != NULL)
            transfer(w, forks);
        else
            tell(w);
    }
}

/* ---- waiting */

/* It has looked in vain, and sleeps unless it was told meanwhile. */
static void stop_looking(pawl_cond *c, pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(c);
    if (atomic_load_explicit(&w->state, memory_order_relaxed) == LOOKING)
        atomic_store_explicit(&w->state, WAITING, memory_order_relaxed);
    pawl_bucket_unlock(b);
}

/* Yielding lets whoever will signal run, perhaps on this CPU. A thread that sleeps may leave its CPU idle, and waking it
 * there takes as long as hundreds of queue operations. */
bool pawl_cond_look(pawl_cond *c, pawl_sleeper *w)
{
    pawl_hint_begin();
    for (int i = 0; i < PAWL_COND_YIELDS; i++)
        if (atomic_load_explicit(&w->state, memory_order_relaxed) != LOOKING || !pawl_yield())
            break;
    if (atomic_load_explicit(&w->state, memory_order_relaxed) == LOOKING)
        stop_looking(c, w);
    return atomic_load_explicit(&w->state, memory_order_acquire) == GO; /* F */
}

/* ---- with a lock of any kind */

int pawl_cond_enter_call(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    int error = deadline != NULL ? pawl_deadline_check(clock, deadline) : 0;
    if (error == 0)
        pawl_cond_enqueue(c, w, NULL);
    return error;
}

int pawl_cond_sleep_call(pawl_cond *c, pawl_sleeper *w, int clock, const struct timespec *deadline)
{
    uint32_t state;
    if (pawl_cond_look(c, w))
        return 0;
    while ((state = atomic_load_explicit(&w->state, memory_order_acquire)) != GO) { /* F */
        int result = pawl_futex_wait(&w->state, state, clock, state == WAITING ? deadline : NULL);
        if (result != 0 && pawl_cond_withdraw(c, w))
            return result;
    }
    return 0;
}

/* With the lock held. After a broadcast, it is the next waiter's turn to lock. */
void pawl_cond_leave_call(pawl_sleeper *w)
{
    if (w->next != NULL)
        tell(w->next);
}

/* ---- with a pawl_mutex */

static int unlock_and_wait(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline)
{
    pawl_sleeper w;
    w.slot = pawl_hint_slot();
    pawl_cond_enqueue(c, &w, m);
    pawl_mutex_unlock(m);
    if (pawl_cond_look(c, &w)) {
        pawl_mutex_lock(m);
        return 0;
    }
    while (pawl_cond_is_in_queue(c, &w)) {
        int result = pawl_futex_wait(&w.state, WAITING, clock, deadline);
        if (result == 0 || !pawl_cond_withdraw(c, &w))
            continue;
        pawl_mutex_lock(m);
        return result;
    }
    return pawl_mutex_wait(m, &w, CLOCK_MONOTONIC, NULL);
}

static int wait_for(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline)
{
    bool watched = pawl_debug_wait_begin(m);
    int result = unlock_and_wait(c, m, clock, deadline);
    if (watched)
        pawl_debug_wait_end(m, "pawl_mutex");
    return result;
}

void pawl_cond_wait_call(pawl_cond *c, pawl_mutex *m)
{
    wait_for(c, m, CLOCK_MONOTONIC, NULL);
}

int pawl_cond_clockwait_call(pawl_cond *c, pawl_mutex *m, int clock, const struct timespec *deadline)
{
    int error = pawl_deadline_check(clock, deadline);
    return error != 0 ? error : wait_for(c, m, clock, deadline);
}
