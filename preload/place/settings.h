/* settings.h - ways to set pawl_mutex under a program: what PAWL_MUTEX in the environment may be */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct preload_setting {
    const char *name;
    const char *built;                 /* does the same to a libpawl that is compiled with it */
    uint32_t round, share, spin_first; /* PAWL_MUTEX_...: nanoseconds; 0: as it is built      */
} preload_setting;

extern const preload_setting preload_settings[];
extern const size_t preload_setting_count;
