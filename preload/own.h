/* own.h - the functions that this library exports, by names that do not go through the PLT */
#pragma once

#include <pthread.h>

extern __typeof(pthread_mutex_init) own_mutex_init;
extern __typeof(pthread_mutex_destroy) own_mutex_destroy;
extern __typeof(pthread_mutex_lock) own_mutex_lock;
extern __typeof(pthread_mutex_trylock) own_mutex_trylock;
extern __typeof(pthread_mutex_timedlock) own_mutex_timedlock;
extern __typeof(pthread_mutex_unlock) own_mutex_unlock;
extern __typeof(pthread_cond_init) own_cond_init;
extern __typeof(pthread_cond_destroy) own_cond_destroy;
extern __typeof(pthread_cond_signal) own_cond_signal;
extern __typeof(pthread_cond_broadcast) own_cond_broadcast;
extern __typeof(pthread_cond_wait) own_cond_wait;
extern __typeof(pthread_cond_timedwait) own_cond_timedwait;
