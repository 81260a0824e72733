/* unversioned.c - references without a version: see unversioned.h */
#include "unversioned.h"

#include <pthread.h>

const uintptr_t *unversioned_functions(void)
{
    static const uintptr_t bound[] = {
        (uintptr_t)pthread_cond_wait,     (uintptr_t)pthread_cond_signal, (uintptr_t)pthread_mutex_lock,
        (uintptr_t)pthread_mutex_trylock, (uintptr_t)pthread_spin_lock,   0,
    };
    return bound;
}
