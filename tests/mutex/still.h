/* still.h - a pawl_mutex with waiters that are not threads
 *
 * Only the step under test runs. As far as what it may do depends on the clock, a test can tell afterwards.
 */
#pragma once

#include "sleepers.h"

#include "../../src/mutex.h"
#include "../../src/park/clock.h"

enum { MOST = 64 };

/* Nanoseconds, as in src/mutex.c */
enum { ROUND = 4000000, SHARE = 150000, SHORT = 20000, GRACE = 1000000, LOOK = 10000, RARE = 50000 };

static pawl_mutex mutex PAWL_ALIGNED;
static pawl_sleeper waiters[MOST];

static inline uint32_t queue(void)
{
    return atomic_load(&mutex.queue);
}

static inline uint32_t patience(void)
{
    return atomic_load(&mutex.patience);
}

static inline bool is_held(void)
{
    return atomic_load(&mutex.held) != 0;
}

static inline uint32_t state_of(const pawl_sleeper *w)
{
    return atomic_load(&w->state);
}

static inline pawl_sleeper *first(void)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_sleeper *w = pawl_queue_first(b, &mutex);
    pawl_bucket_unlock(b);
    return w;
}

static inline void take_out(pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_mutex_dequeue(b, &mutex, w);
    pawl_bucket_unlock(b);
}

/* If a test took so long that the head's share may be over by now, it begins again. */
static uint32_t begun;

static inline bool took_too_long(void)
{
    return pawl_ticks() - begun >= PAWL_TICKS(ROUND);
}

/* A held mutex with so many sleepers behind it; only the head is in this state. */
static inline pawl_sleeper *behind(int count, uint32_t head, uint32_t bits)
{
    for (pawl_sleeper *w; (w = first()) != NULL;)
        take_out(w);
    memset(&mutex, 0, sizeof mutex);
    atomic_store(&mutex.held, 1);
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    for (int i = 0; i < count; i++) {
        atomic_store(&waiters[i].state, i == 0 ? head : PAWL_ASLEEP);
        pawl_mutex_enqueue(b, &mutex, &waiters[i]);
    }
    pawl_bucket_unlock(b);
    atomic_store(&mutex.queue, bits);
    begun = pawl_ticks();
    mutex.due = begun + PAWL_TICKS(ROUND);
    return &waiters[0];
}

enum { TIMED = PAWL_M_WAITERS | PAWL_M_TIMED, UP = TIMED | PAWL_M_AWAKE, ASKED = TIMED | PAWL_M_HANDOFF };
