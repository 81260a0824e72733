/* c11.c - mtx_* and cnd_*: glibc's call its own mutexes, not the interposed functions */
#include "preload/mutex/slow.h"
#include "aliases.h"

#include <errno.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
               "C11's are POSIX's");

static int result_of(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

EXPORT int mtx_init(mtx_t *m, int type)
{
    local_mutex_init((pthread_mutex_t *)m, NULL);
    if (type & mtx_recursive)
        ((pthread_mutex_t *)m)->__data.__kind = PTHREAD_MUTEX_RECURSIVE;
    return thrd_success;
}

EXPORT void mtx_destroy(mtx_t *m)
{
    local_mutex_destroy((pthread_mutex_t *)m);
}

EXPORT int mtx_lock(mtx_t *m)
{
    return result_of(local_mutex_lock((pthread_mutex_t *)m));
}

EXPORT int mtx_trylock(mtx_t *m)
{
    return result_of(local_mutex_trylock((pthread_mutex_t *)m));
}

EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict deadline)
{
    return result_of(local_mutex_timedlock((pthread_mutex_t *)m, deadline));
}

EXPORT int mtx_unlock(mtx_t *m)
{
    return result_of(local_mutex_unlock((pthread_mutex_t *)m));
}

EXPORT int cnd_init(cnd_t *c)
{
    local_cond_init((pthread_cond_t *)c, NULL);
    return thrd_success;
}

/* There is nothing to be done for a condition variable of ours, and these are never shared. */
EXPORT void cnd_destroy(cnd_t *c)
{
    (void)c;
}

EXPORT int cnd_signal(cnd_t *c)
{
    local_cond_signal((pthread_cond_t *)c);
    return thrd_success;
}

EXPORT int cnd_broadcast(cnd_t *c)
{
    local_cond_broadcast((pthread_cond_t *)c);
    return thrd_success;
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
    return result_of(local_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict deadline)
{
    return result_of(local_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, deadline));
}

MOVED(mtx_init, "2.28");
MOVED(mtx_destroy, "2.28");
MOVED(mtx_lock, "2.28");
MOVED(mtx_trylock, "2.28");
MOVED(mtx_timedlock, "2.28");
MOVED(mtx_unlock, "2.28");
MOVED(cnd_init, "2.28");
MOVED(cnd_destroy, "2.28");
MOVED(cnd_signal, "2.28");
MOVED(cnd_broadcast, "2.28");
MOVED(cnd_wait, "2.28");
MOVED(cnd_timedwait, "2.28");
