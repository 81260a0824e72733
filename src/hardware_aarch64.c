/* hardware_aarch64.c - WFE: sleeps until the exclusive monitor of a line is lost
 *
 * LDXR arms the monitor and looks in one step, so no change is missed. If nothing else ends a wait, the kernel's
 * event stream does, after 100 us at most. */
#include "hardware.h"

#ifdef __aarch64__

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    uint64_t now;
    __asm__ volatile("sevl\n\t" /* the first WFE returns at once and clears an old event */
                     "wfe\n\t"
                     "ldxr %0, %1\n\t"
                     "cmp %0, %2\n\t"
                     "b.ne 1f\n\t"
                     "wfe\n"
                     "1:"
                     : "=&r"(now)
                     : "Q"(*w), "r"(seen)
                     : "memory", "cc");
    return 1; /* one wait may outlast the whole spinning phase */
}

const char *pawl_hardware_name(void)
{
    return "WFE";
}

#endif
