/* simulated.c - what the objects are called */
#include "simulated.h"

const char *const sim_object_names[SIM_OBJECTS] = {
    [SIM_LOCK] = "lock",     [SIM_ELEMENT] = "element", [SIM_SLOT] = "slot",   [SIM_PARKING] = "parking",
    [SIM_KERNEL] = "kernel", [SIM_DATA] = "data",       [SIM_OTHER] = "other",
};
