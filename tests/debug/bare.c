/* bare.c - code that was not compiled for the debug mode, as other languages' is */
#define PAWL_NO_HOOKS
#include "bare.h"

int bare_timedwait(pawl_cond *c, pawl_mutex *m, const struct timespec *deadline)
{
    return pawl_cond_timedwait(c, m, deadline);
}

void bare_lock(pawl_mutex *m)
{
    pawl_mutex_lock(m);
}

void bare_unlock(pawl_mutex *m)
{
    pawl_mutex_unlock(m);
}
