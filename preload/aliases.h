/* aliases.h - the library's exported functions under hidden names, to call them without the PLT */
#pragma once

#include <pthread.h>

extern __typeof(pthread_mutex_init) local_mutex_init;
extern __typeof(pthread_mutex_destroy) local_mutex_destroy;
extern __typeof(pthread_mutex_lock) local_mutex_lock;
extern __typeof(pthread_mutex_trylock) local_mutex_trylock;
extern __typeof(pthread_mutex_timedlock) local_mutex_timedlock;
extern __typeof(pthread_mutex_unlock) local_mutex_unlock;
extern __typeof(pthread_cond_init) local_cond_init;
extern __typeof(pthread_cond_signal) local_cond_signal;
extern __typeof(pthread_cond_broadcast) local_cond_broadcast;
extern __typeof(pthread_cond_wait) local_cond_wait;
extern __typeof(pthread_cond_timedwait) local_cond_timedwait;
