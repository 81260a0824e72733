/* settings.h - makes constants of pawl_mutex variables, which PAWL_MUTEX in the environment sets: -include this */
#pragma once

#include <stdint.h>

typedef struct mutex_settings {
    uint32_t round, share, spin_first;
} mutex_settings;

extern mutex_settings preload_mutex;

/* -D may have set them. Meson has read those values into MUTEX_..., which preload_mutex starts with. */
#undef PAWL_MUTEX_ROUND
#undef PAWL_MUTEX_SHARE
#undef PAWL_MUTEX_SPIN_FIRST
#define PAWL_MUTEX_ROUND      preload_mutex.round
#define PAWL_MUTEX_SHARE      preload_mutex.share
#define PAWL_MUTEX_SPIN_FIRST preload_mutex.spin_first
