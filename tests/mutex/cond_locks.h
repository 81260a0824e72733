/* cond_locks.h - the same programs with a condition variable over three locks
 */
#pragma once

#include "sleepers.h"

#include <pawl/cond.h>

static pawl_mutex mutex PAWL_ALIGNED;
static pawl_fairmutex fair PAWL_ALIGNED;
static pawl_mcs mcs PAWL_ALIGNED;

/* The same programs over three locks: `use` says which. */
static enum { MUTEX, FAIR, MCS, LOCKS } use;

static inline void lock(pawl_mcs_ctx *c)
{
    if (use == MUTEX)
        pawl_mutex_lock(&mutex);
    else if (use == FAIR)
        pawl_fairmutex_lock(&fair);
    else
        pawl_mcs_lock(&mcs, c);
}

static inline void unlock(pawl_mcs_ctx *c)
{
    if (use == MUTEX)
        pawl_mutex_unlock(&mutex);
    else if (use == FAIR)
        pawl_fairmutex_unlock(&fair);
    else
        pawl_mcs_unlock(&mcs, c);
}

static inline int wait_until(pawl_cond *cond, pawl_mcs_ctx *c, const struct timespec *deadline)
{
    if (use == MUTEX && deadline != NULL)
        return pawl_cond_clockwait(cond, &mutex, CLOCK_MONOTONIC, deadline);
    if (use == FAIR && deadline != NULL)
        return pawl_cond_clockwait_fair(cond, &fair, CLOCK_MONOTONIC, deadline);
    if (use == MCS)
        return PAWL_COND_CLOCKWAIT(cond, mcs, &mcs, c, CLOCK_MONOTONIC, deadline);
    if (use == MUTEX)
        pawl_cond_wait(cond, &mutex);
    else
        pawl_cond_wait_fair(cond, &fair);
    return 0;
}
