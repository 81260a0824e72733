/* slow.h - the slow paths of pthread_mutex_*, and what a condition variable needs of a mutex */
#pragma once

#include "layout.h"

#include "preload/export.h"
#include "preload/stats/stats.h"

#include <time.h>

/* What a lock call asks for. */
typedef struct request {
    const void *site;                /* the program's call                       */
    bool waits;                      /* not trylock                              */
    bool relocks;                    /* for a condition variable                 */
    int clock;                       /* of the deadline                          */
    const struct timespec *deadline; /* null: none                               */
    stats_call *call; /* of the wait that it is a slice of, or null; if it fails, that goes on */
} request;

/* ---- slow.c */

/* Of any mutex but glibc's. */
int mutex_lock(mutex *m, const request *r);
int mutex_unlock(mutex *m);

/* For a wait on a condition variable. EPERM if the caller must own the mutex and does not. */
int mutex_check_wait(mutex *m);
/* Unlocks however often the mutex is locked, and returns the number of relocks, for the calls below. */
uint32_t mutex_unlock_all(mutex *m);
void mutex_relock(mutex *m, uint32_t depth, const void *site);
/* Called when the waiter was requeued onto the mutex and owns it now, which is not counted: what is counted does not
 * requeue. */
void mutex_relocked(mutex *m, uint32_t depth);

/* ---- ../fork/adopt.c: mutexes from before a fork */

/* Makes the mutex one of this epoch: its owner, if any, is then a thread of this process. EBUSY or ETIMEDOUT if a
 * thread from before the fork holds it and the request does not wait (longer); EINVAL. The statistics, if not null, go on
 * afterwards, whether it waited or not. */
int adopt(mutex *m, const request *r, stats_call *call);

/* The same for unlock: whoever held the mutex, the caller does now. EPERM if the kind demands the owner itself. */
int adopt_to_unlock(mutex *m);

/* ---- ../cancel.c */

/* For a caller whose asynchronous cancellation was held off; allows it again. */
int lock_cancelable(mutex *m, const request *r);

/* ---- ../cond/users.c */

/* Whether a thread waits on a condition variable with this mutex. */
bool mutex_has_cond_waiters(mutex *m);
