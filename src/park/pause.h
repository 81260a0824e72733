/* pause.h - how long to spin, in pauses, and whether at all */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many pauses take about that long; 0 if spinning is no use to this thread. Measures a pause when first called.
 * Call it once per wait: it counts calls. */
uint32_t pawl_pauses(uint32_t nanoseconds);

/* The same, whether it is of use or not. */
uint32_t pawl_pauses_in(uint32_t nanoseconds);

/* Whether the owner of what this thread waits for may be running now. Asks the kernel. */
bool pawl_may_spin(void);
