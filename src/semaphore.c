/* semaphore.c - taking a permit with a deadline */
#include <pawl/semaphore.h>
#include "park/futex.h"
#include "park/word.h"

#include <errno.h>

/* A permit is left over only when `grant` has changed, so that is what it sleeps for. It does not spin: the permits
 * of the near future belong to those in line. */
int pawl_semaphore_take_until(pawl_semaphore *s, int clock, const struct timespec *deadline)
{
    int result = pawl_deadline_check(clock, deadline);
    if (result != 0)
        return result;
    pawl_waiter me = PAWL_WAITER;
    while (!pawl_semaphore_try_acquire(s, 0)) { /* A */
        if (pawl_left(clock, deadline) == 0) {
            result = ETIMEDOUT;
            break;
        }
        pawl_park_until(&me, &s->grant, PAWL_ANY, clock, deadline);
    }
    pawl_wait_end(&me, &s->grant);
    return result;
}
