/* settings.c - the ways to set pawl_mutex
 *
 *   spin    newcomers look for longer before they queue up: for short sections, and no more threads than CPUs
 *   prompt  where releases are 0.6 us apart or more, waiters are passed over for a quarter of the time: shorter waits, for
 *           more hand-offs
 */
#include "settings.h"

const preload_setting preload_settings[] = {
    {.name = "spin", .built = "-DPAWL_MUTEX_SPIN_FIRST=20000u", .spin_first = 20000},
    {.name = "prompt",
     .built = "-DPAWL_MUTEX_ROUND=1000000u -DPAWL_MUTEX_SHARE=40000u",
     .round = 1000000,
     .share = 40000},
};

const size_t preload_setting_count = sizeof preload_settings / sizeof preload_settings[0];
