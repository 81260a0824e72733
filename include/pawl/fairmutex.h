/* fairmutex.h - a mutex for strict order: first come, first served, and waiters that sleep
 *
 * Admission   FIFO, nobody is overtaken; the order is that of one atomic operation on one word
 * Bypass      0
 * Space       1 word per lock, none per thread; a queue of waiters in a process-wide table
 * Unlock      by any thread, not in constant time: one CAS when nobody waits, else new arrivals are put in order
 *             first; does not touch the lock after the release or the hand-off
 * Waiting     local: spins for a short time on a word of its own, then sleeps on it in the kernel; the first in line
 *             yields for a while in between
 * Sharing     by threads of one process
 * Differs     from pawl_mutex: never barges. With more threads than CPUs every hand-off to a sleeping thread costs a
 *             wake-up, which makes it two orders of magnitude slower under contention
 *
 *   word          0 free; else a sum of
 *                 1   held
 *                 2   somebody is in the queue
 *                 W   the latest arrival since the queue was last filled; its `next` leads to the one before
 *
 *   arrive        0 -> 1, or word -> W | word & 3
 *   unlock        1 -> 0, or: move the arrivals to the end of the queue, in order; hand off to its first
 *
 * All-zero bytes are an unlocked mutex. It needs no destruction. Another thread may unlock it.
 */
#pragma once

#include "detail/functions.h"

typedef struct pawl_fairmutex {
    pawl_word word;
} pawl_fairmutex;

#define PAWL_FAIRMUTEX_INIT                                                                                  \
    {                                                                                                        \
        0                                                                                                    \
    }

#ifdef __cplusplus
extern "C" {
#endif

/* The slow halves of the functions below. Without a deadline the clock does not matter. */
int pawl_fairmutex_lock_until(pawl_fairmutex *m, int clock, const struct timespec *deadline);
void pawl_fairmutex_unlock_contended(pawl_fairmutex *m);

#ifdef __cplusplus
}
#endif

/* 0: free; 1: held, and nobody waits. For a process with one thread. */
#define pawl_fairmutex_word(m) (&(m)->word)

static inline bool pawl_fairmutex_try_acquire(pawl_fairmutex *m)
{
    return pawl_cas_acquire(&m->word, 0, 1); /* A: sees all the last owner wrote */
}

static inline void pawl_fairmutex_acquire(pawl_fairmutex *m)
{
    if (PAWL_UNLIKELY(!pawl_fairmutex_try_acquire(m)))
        pawl_fairmutex_lock_until(m, 0, NULL);
}

static inline void pawl_fairmutex_release(pawl_fairmutex *m)
{
    if (PAWL_UNLIKELY(!pawl_cas_release(&m->word, 1, 0))) /* A: publishes the critical section */
        pawl_fairmutex_unlock_contended(m);
}

PAWL_MUTEX_FUNCTIONS(fairmutex, word)
