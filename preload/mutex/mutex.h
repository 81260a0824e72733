/* mutex.h - the mutex, between the files of a library
 *
 * A null deadline is none, and then the clock does not matter.
 */
#pragma once

#include "layout.h"

#include "preload/export.h"

#include <time.h>

/* ---- settle.c: mutexes that come from before a fork */

/* Whether a call may wait, until when, and who it is. */
typedef struct demand {
    const void *site; /* where the program called      */
    bool waits;       /* not trylock                   */
    int clock;
    const struct timespec *deadline;
} demand;

/* Makes the mutex one of this era; then its owner, if it has one, is a thread of this process. 0, or EBUSY if it must
 * not wait for one that was there before, ETIMEDOUT, EINVAL. */
int settle(body *b, const demand *d);

/* The same by one that will unlock it: whoever held it, the caller does now, unless its kind asks who that was: EPERM.
 */
int settle_mine(body *b);

/* ---- mutex.c */

/* Everything that the exported functions do not do at once. */
int mutex_lock(body *b, const demand *d);
int mutex_unlock(body *b);

/* For a condition variable. Whether the caller may wait with this mutex; it lets go of all of it; it has it again as
 * it was. */
int mutex_may_wait(body *b);
uint32_t mutex_let_go(body *b);
void mutex_take_back(body *b, uint32_t depth, const void *site);
/* Whether somebody waits with it, at a condition variable. */
bool mutex_is_waited_with(body *b);
/* It got it by other means. */
void mutex_got_back(body *b, uint32_t depth, const void *site);
