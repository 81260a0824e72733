/* aliases.h - the library's exported functions under hidden names, to call them without the PLT */
#pragma once

#include <pthread.h>

extern __typeof(pthread_mutex_init) local_mutex_init;
extern __typeof(pthread_mutex_destroy) local_mutex_destroy;
extern __typeof(pthread_mutex_unlock) local_mutex_unlock;
extern __typeof(pthread_cond_init) local_cond_init;
