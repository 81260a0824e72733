/* settings.h - makes constants of pawl_mutex variables, which PAWL_MUTEX in the environment sets: -include this */
#pragma once

#include <stdint.h>

typedef struct mutex_settings {
    uint32_t round, share, spin_first;
} mutex_settings;

extern mutex_settings preload_mutex;

/* Somebody who builds the library with other values has them in `preload_mutex`, too. */
#undef PAWL_MUTEX_ROUND
#undef PAWL_MUTEX_SHARE
#undef PAWL_MUTEX_SPIN_FIRST
#define PAWL_MUTEX_ROUND      preload_mutex.round
#define PAWL_MUTEX_SHARE      preload_mutex.share
#define PAWL_MUTEX_SPIN_FIRST preload_mutex.spin_first
