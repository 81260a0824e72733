/* hardware.h - waiting for a cache line to change, where the processor can */
#pragma once

#include <pawl/detail/wait.h>

/* Returns when the line of `w` may have changed since it held `seen`, or after a few microseconds, or at once. The
 * result is how many such waits fit into a spinning phase; 0 if they take no time to speak of. */
unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen);

/* The instruction: "UMWAIT", "MWAITX" or "WFE"; "pause" if there is none. */
const char *pawl_hardware_name(void);
