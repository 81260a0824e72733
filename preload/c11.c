/* c11.c - mtx_* and cnd_*: glibc's call its own mutexes, not the interposed functions
 *
 * Those that wait or wake are beside their twins of POSIX: each notes who called it.
 */
#include "aliases.h"
#include "c11.h"
#include "export.h"
#include "mutex/layout.h"

#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
               "C11's are POSIX's");

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

EXPORT int mtx_unlock(mtx_t *m)
{
    return c11_result(local_mutex_unlock((pthread_mutex_t *)m));
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

MOVED(mtx_init, "2.28");
MOVED(mtx_destroy, "2.28");
MOVED(mtx_unlock, "2.28");
MOVED(cnd_init, "2.28");
MOVED(cnd_destroy, "2.28");
