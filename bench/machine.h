/* machine.h - where a measurement was made */
#pragma once

typedef struct machine {
    unsigned cpus; /* that this process may use */
    char model[128];
    char kernel[128];
    char compiler[128];
} machine;

machine machine_here(void);
