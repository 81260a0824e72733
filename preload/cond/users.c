/* users.c - which mutexes waits on condition variables use
 *
 * pthread_mutex_destroy() says EBUSY for those. glibc's mutex counts its users; ours has no room for a count, so users
 * stand in a queue of the parking lot, at an address inside the mutex at which nobody parks.
 */
#include "wait.h"
#include "preload/fork/epoch.h"
#include "preload/mutex/slow.h"

#include "src/reentry.h"

static const char *users_of(const void *mutex)
{
    return (const char *)mutex + 1;
}

/* A handler that interrupted its thread in that bucket does without. */
void wait_use_begin(cond_wait *w)
{
    const char *users = users_of(w->mutex);
    w->uses = w->ours && !pawl_is_reentry(users);
    if (!w->uses)
        return;
    pawl_bucket *k = pawl_bucket_lock(users);
    pawl_queue_append(k, users, &w->user);
    pawl_bucket_unlock(k);
}

void wait_forget(const volatile void *queue, pawl_sleeper *w)
{
    pawl_bucket *k = pawl_bucket_lock(queue);
    const pawl_sleeper *at = pawl_queue_first(k, queue);
    while (at != NULL && at != w)
        at = at->next;
    if (at != NULL)
        pawl_queue_remove(k, w);
    pawl_bucket_unlock(k);
}

void wait_use_end(cond_wait *w)
{
    if (!w->uses)
        return;
    const char *users = users_of(w->mutex);
    if (epoch_now() != w->epoch) {
        wait_forget(users, &w->user);
        return;
    }
    pawl_bucket *k = pawl_bucket_lock(users);
    pawl_queue_remove(k, &w->user);
    pawl_bucket_unlock(k);
}

bool mutex_has_cond_waiters(mutex *m)
{
    const char *users = users_of(m);
    if (PAWL_UNLIKELY(pawl_is_reentry(users)))
        return false;
    pawl_bucket *k = pawl_bucket_lock(users);
    bool used = pawl_queue_first(k, users) != NULL;
    pawl_bucket_unlock(k);
    return used;
}
