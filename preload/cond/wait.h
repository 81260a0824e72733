/* wait.h - one wait on a condition variable, with a mutex of ours or of glibc's */
#pragma once

#include "cond.h"

#include <pawl/detail/sleeper.h>

typedef struct cond_wait {
    pawl_cond *cond;
    pthread_mutex_t *mutex;
    const void *site; /* the program's call                        */
    int clock;
    const struct timespec *deadline; /* null: none                 */
    bool ours;                       /* the mutex is not glibc's   */
    uint32_t depth;                  /* relocks to restore         */
    uint32_t epoch;                  /* in which it was enqueued   */
    bool uses;                       /* `user` is in its queue     */
    bool requeues;                   /* signalled onto the mutex, without waking */
    struct stats_call *call;         /* null: not counted          */
    pawl_sleeper me, user;
} cond_wait;

/* ---- wait.c */

int wait_unlock(cond_wait *w);
int wait_relock(cond_wait *w);
/* It does not wait any more, but for the mutex. */
void wait_woken(cond_wait *w, bool signalled);
void wait_cancelled(cond_wait *w);

/* ---- queue.c */

/* With the mutex locked; returns with it locked, when signalled, at the deadline, or spuriously. */
int wait_in_queue(cond_wait *w);

/* ---- users.c: POSIX lets pthread_mutex_destroy() fail while a wait uses the mutex */

void wait_use_begin(cond_wait *w);
void wait_use_end(cond_wait *w);

/* In a child that a signal handler has forked during the wait: takes it out of the queue if it is there. The queue was
 * emptied when the child's epoch began, and it may have come before or after. */
void wait_forget(const volatile void *queue, pawl_sleeper *w);
