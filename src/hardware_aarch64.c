/* hardware_aarch64.c - WFE: sleeps until the exclusive monitor of a line is lost
 *
 * LDXR arms the monitor and looks at once, so no change is missed. The kernel's event stream ends a wait that
 * nothing else ends, after 100 us at most. */
#include "hardware.h"

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    uint64_t now;
    __asm__ volatile("sevl\n\t" /* the first WFE returns at once, and clears an
                                   event of the past */
                     "wfe\n\t"
                     "ldxr %0, %1\n\t"
                     "cmp %0, %2\n\t"
                     "b.ne 1f\n\t"
                     "wfe\n"
                     "1:"
                     : "=&r"(now)
                     : "Q"(*w), "r"(seen)
                     : "memory", "cc");
    return 1; /* the event stream may take longer than all of the spinning phase */
}
