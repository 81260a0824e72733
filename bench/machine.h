/* machine.h - where a measurement was made, and with what */
#pragma once

#include <stdbool.h>

typedef struct machine {
    unsigned cpus;                       /* that this process may use */
    unsigned sockets, cores, numa_nodes; /* 0 if that is not known */
    char model[128];
    char kernel[128];
    char libc[64];
    char compiler[128];
    char commit[64];         /* empty if it is not known */
    char topology[256];      /* one line                 */
    const char *no_counters; /* NULL, or why there are no performance counters */
    bool simulated;
} machine;

machine machine_here(void);
