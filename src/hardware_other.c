/* hardware_other.c - processors on which a program cannot wait for a line */
#include "hardware.h"

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    (void)w, (void)seen;
    return 0; /* the caller has paused already */
}
