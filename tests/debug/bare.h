/* bare.h - see bare.c */
#pragma once

#include <pawl/cond.h>

int bare_timedwait(pawl_cond *c, pawl_mutex *m, const struct timespec *deadline);
void bare_lock(pawl_mutex *m);
void bare_unlock(pawl_mutex *m);
