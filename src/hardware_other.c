/* hardware_other.c - processors on which a program cannot wait for a line */
#include "hardware.h"

#if defined(PAWL_IN_LAB) || defined(PAWL_PAUSE) || (!defined(__x86_64__) && !defined(__aarch64__))

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    (void)w, (void)seen;
    return 0; /* the caller has paused already */
}

const char *pawl_hardware_name(void)
{
    return "pause";
}

#endif
