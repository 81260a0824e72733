/* leave.h - waiting with a deadline in a queue that can be left */
#pragma once

#include <pawl/detail/wait.h>

#include <time.h>

/* Before a lock that was just found taken is waited for: EINVAL, or ETIMEDOUT if the deadline has passed. A node would
 * stay in the queue for nothing. */
int pawl_leave_check(int clock, const struct timespec *deadline);

/* Waits while `w`, which its owner changes by an exchange, is `waiting`. 0 if it was changed; ETIMEDOUT if the deadline
 * has passed and `w` is now `left`: then it belongs to whoever finds that. */
int pawl_leave_at(pawl_word *w, uint64_t waiting, uint64_t left, int clock, const struct timespec *deadline);
