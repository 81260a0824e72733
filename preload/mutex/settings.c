/* settings.c - reads PAWL_MUTEX; what is no setting is ignored, as the library must not print */
#include "settings.h"

#include "preload/place/settings.h"

#include <stdlib.h>
#include <string.h>

mutex_settings preload_mutex = {MUTEX_ROUND, MUTEX_SHARE, MUTEX_SPIN_FIRST}; /* as src/ has them */

static void set(uint32_t *to, uint32_t value)
{
    if (value != 0)
        *to = value;
}

__attribute__((constructor)) static void start(void)
{
    const char *name = getenv("PAWL_MUTEX");
    for (size_t i = 0; i < preload_setting_count && name != NULL; i++) {
        const preload_setting *s = &preload_settings[i];
        if (strcmp(name, s->name) != 0)
            continue;
        set(&preload_mutex.round, s->round);
        set(&preload_mutex.share, s->share);
        set(&preload_mutex.spin_first, s->spin_first);
    }
}
